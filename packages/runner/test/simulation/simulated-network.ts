import { isServiceError, ServiceError, type VolumeFiles } from '@sluice/client';
import type { Random } from '../../../run/test/random.ts';
import { type CallFate, drawFate, type FaultRates, type Page } from './faults.ts';
import { serviceFailure } from './service-failure.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface NetworkOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Looked at for each call, so that faults can be stopped. */
  readonly faults: () => FaultRates;
  /** What the gate answers to every call at this moment; undefined lets them through. */
  readonly gate?: () => CallFate['gate'];
  /** Called for each call before it is sent. */
  readonly onCall: (name: string, id: string | undefined) => void;
}

/** The network between a runner and a simulated service, on which requests and replies are lost, late or repeated. */
interface SimulatedNetwork {
  readonly call: <T>(name: string, id: string | undefined, act: () => T | Promise<T>) => Promise<T>;
  readonly overNetwork: (files: VolumeFiles) => VolumeFiles;
  /** Calls so far, by name. */
  readonly calls: ReadonlyMap<string, number>;
  /** IDs of creates that will arrive although their callers have given up waiting. */
  readonly inFlight: ReadonlySet<string>;
}

const TIMEOUT_MS = 30_000;

export function createSimulatedNetwork(options: NetworkOptions): SimulatedNetwork {
  const { clock, random, faults } = options;
  const calls = new Map<string, number>();
  const inFlight = new Set<string>();

  /** Sends a request, lets the service act, and returns its reply. */
  async function call<T>(name: string, id: string | undefined, act: () => T | Promise<T>): Promise<T> {
    calls.set(name, (calls.get(name) ?? 0) + 1);
    options.onCall(name, id);
    const drawn = drawFate(random, faults());
    const gate = options.gate?.() ?? drawn.gate;
    const fate = { ...drawn, gate: isPage(gate) && !PAGED.has(name) ? undefined : gate };
    const traveling = travel(fate, act);
    if (name === 'create' && id !== undefined && fate.lateByMs !== undefined && fate.gate !== 'rejected') {
      inFlight.add(id);
      clock.setTimer(clock.now() + TIMEOUT_MS + fate.lateByMs, () => inFlight.delete(id));
    }
    const outcome = await traveling;
    if ('error' in outcome) throw outcome.error;
    return structuredClone(outcome.value);
  }

  async function travel<T>(fate: CallFate, act: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
    const attempt = async (): Promise<{ value: T } | { error: unknown }> => {
      try {
        return { value: await act() };
      } catch (error) {
        return { error };
      }
    };
    if (fate.gate === 'rejected') return { error: serviceFailure('UNREACHABLE', 'the connection was rejected') };
    if (fate.lateByMs !== undefined) clock.setTimer(clock.now() + TIMEOUT_MS + fate.lateByMs, () => void attempt());
    if (fate.requestLost || fate.lateByMs !== undefined) {
      await clock.delay(TIMEOUT_MS);
      return { error: serviceFailure('NO_REPLY', 'no reply came within 30 s') };
    }
    await clock.delay(fate.requestMs);
    const gate = gateError(fate.gate);
    const outcome = gate ? { error: gate } : await attempt();
    // A request above the quota is rejected again when it is repeated.
    const isTurnedAway = 'error' in outcome && isServiceError(outcome.error, 'RESOURCE_EXHAUSTED');
    if (fate.duplicateAfterMs !== undefined && !gate && !isTurnedAway) {
      clock.setTimer(clock.now() + fate.duplicateAfterMs, () => void attempt());
    }
    if (fate.replyLost) {
      await clock.delay(TIMEOUT_MS);
      return { error: serviceFailure('NO_REPLY', 'no reply came within 30 s') };
    }
    await clock.delay(fate.replyMs);
    if (fate.gate === 'page after') return { error: pageError(404) };
    if (fate.gate === 'unreadable') return { error: serviceFailure('INVALID_REPLY', 'the reply was cut off') };
    return outcome;
  }

  /** Calls for files have the same faults as others. Reads are only cut off: they change nothing and are repeated as a whole. */
  function overNetwork(files: VolumeFiles): VolumeFiles {
    return {
      stat: (path) => call('files.stat', undefined, () => files.stat(path)),
      list: (path) => call('files.list', undefined, () => files.list(path)),
      read: async (path, range) => cutOff(await files.read(path, range)),
      write: (path, body, more) => send(files, path, { body, more }),
      link: (path, target) => call('files.link', undefined, () => files.link(path, target)),
      makeDirectory: (path) => call('files.makeDirectory', undefined, () => files.makeDirectory(path)),
      move: (from, to) => call('files.move', undefined, () => files.move(from, to)),
      copy: (from, to) => call('files.copy', undefined, () => files.copy(from, to)),
      remove: (path) => call('files.remove', undefined, () => files.remove(path)),
    };
  }

  /** A download whose connection may break in the middle. */
  async function* cutOff(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const part of body) {
      if (!random.chance(faults().cut)) {
        yield part;
        continue;
      }
      yield part.subarray(0, random.below(part.length));
      throw serviceFailure('NO_REPLY', 'the connection broke');
    }
  }

  /** Uploads a file. If the connection breaks before the reply, a part of the file may have arrived. */
  async function send(
    files: VolumeFiles,
    path: string,
    { body, more }: { body: Parameters<VolumeFiles['write']>[1]; more: Parameters<VolumeFiles['write']>[2] },
  ): Promise<void> {
    const parts: Uint8Array[] = [];
    let broken: unknown;
    try {
      for await (const part of body instanceof Uint8Array ? [body] : body) parts.push(part);
    } catch (error) {
      broken = error;
    }
    const bytes = Buffer.concat(parts);
    const isCut = random.chance(faults().cut);
    if (broken === undefined && !isCut) return call('files.write', undefined, () => files.write(path, bytes, more));
    await clock.delay(1 + random.below(20));
    await files.write(path, isCut ? bytes.subarray(0, random.below(bytes.length)) : bytes);
    throw broken ?? serviceFailure('NO_REPLY', 'the connection broke');
  }

  return { call, overNetwork, calls, inFlight };
}

function gateError(gate: CallFate['gate']): ServiceError | undefined {
  switch (gate) {
    case 'page 403':
      return pageError(403);
    case 'page 404':
      return pageError(404);
    case 401:
      return serviceFailure('UNAUTHENTICATED', 'the token is not valid', 401);
    case 429:
      return serviceFailure('RESOURCE_EXHAUSTED', 'too many requests', 429);
    case 408:
    case 500:
    case 503:
      return serviceFailure('UNAVAILABLE', `the service answered ${gate}`, gate);
    default:
      return undefined;
  }
}

/** Calls that a gateway may answer with a page. */
const PAGED = new Set(['create', 'get', 'list', 'cancel']);

function isPage(gate: CallFate['gate']): gate is Page {
  return typeof gate === 'string' && gate.startsWith('page');
}

/** As the client reads it: the status is known, and that the body is no error of the protocol. */
function pageError(status: 403 | 404): ServiceError {
  const code = status === 403 ? 'PERMISSION_DENIED' : 'NOT_FOUND';
  return new ServiceError(code, `the service replied ${status} nginx`, { status, isForeign: true });
}
