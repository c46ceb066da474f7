import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ContainerService, isServiceError, type Scope, ServiceError, type ServiceWait } from '@sluice/client';
import { openSocketPath } from '@sluice/host-system';
import { keepReserve } from '../home/disk-reserve.ts';
import { claimService, connectToOwner, nameOwner } from './claim-service.ts';
import { type CurrentService, createDelegatingService } from './delegating-service.ts';
import { type EmbeddedEngine, LOCAL_ENGINE, placeOfEngine } from './embedded-engine.ts';
import { checkSameOptions, recordOptions } from './engine-options.ts';

/** Delay between attempts while the claim changes hands, doubled up to the longest: each attempt starts a program. */
const CLAIM_AGAIN_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** How long an owner may take to reply, all attempts together: it may have to open a large store first. */
const OWNER_MS = 60_000;
/** A wait for the owner is reported each time that this has passed. */
const REPORT_MS = 5_000;
/** How long a closing owner waits for in-flight requests. */
const CLOSE_MS = 5_000;

/** The embedded service of a home, run by this process or by the one that owns it. */
export interface EmbeddedService {
  readonly service: ContainerService;
  readonly scope: Scope;
  /** For the user: how this machine runs containers. Empty if another process owns the service and has printed them. */
  readonly warnings: readonly string[];
  /** Containers keep running; another `sluice` process of this home becomes the owner. */
  close(): Promise<void>;
}

/** Settings that apply while this process owns the service, or while another one does. */
export interface EmbeddedOptions {
  /** Number of cores for containers (default: all cores of the machine). */
  readonly cpu?: number | undefined;
  /** Default: containers run on this machine. */
  readonly engine?: EmbeddedEngine;
  /** Called when another process owns the service and does not reply; see `HttpServiceAddress`. */
  readonly onWait?: (wait: ServiceWait) => void;
  /** How long another process that owns the service may take to accept a connection. Default: a minute. */
  readonly ownerMs?: number;
}

/** The service as this process currently reaches it. */
interface Lease extends CurrentService {
  readonly owner: boolean;
  readonly warnings: readonly string[];
  release(): Promise<void>;
}

/**
 * Opens the service of a home. One process owns and runs it; others connect through a unix socket in the home, and one
 * of them becomes the owner when the owner exits. In-flight requests that only read are then repeated; others fail with
 * `NO_REPLY`, as with any service. Throws if this machine cannot run the service.
 */
export async function openEmbeddedService(home: string, options: EmbeddedOptions = {}): Promise<EmbeddedService> {
  const { cpu, engine = LOCAL_ENGINE, onWait, ownerMs = OWNER_MS } = options;
  const place = placeOfEngine(engine);
  const root = join(home, place.root);
  const dropReserve = await keepReserve(home);
  await mkdir(root, { recursive: true, mode: 0o700 });
  let closed = false;
  const socket = await openSocketPath(home, place.socket);
  const ownerSocket = await openSocketPath(home, place.ownerSocket);
  const closeSockets = async () => {
    dropReserve();
    await socket.close();
    await ownerSocket.close();
  };
  const failure = createFailure();
  const sockets = { socketPath: socket.path, ownerPath: ownerSocket.path };
  const wanted: Wanted = { home, root, cpu, engine, onWait, ownerMs, onFailure: failure.report, ...sockets };
  let lease = await acquireLease(wanted).catch(async (error: unknown) => {
    await closeSockets();
    throw error;
  });
  let current: Promise<Lease> = Promise.resolve(lease);
  let hasFailed = false;
  const replace = () => {
    if (closed) return;
    hasFailed = false;
    current = acquireLease(wanted);
    current.then(follow, () => {
      hasFailed = true;
    });
  };
  const follow = (next: Lease) => {
    lease = next;
    // The owner may already be gone.
    if (next.lost?.aborted) replace();
    else next.lost?.addEventListener('abort', replace);
  };
  follow(lease);

  const service = createDelegatingService({
    current: () => {
      // The cause of an earlier failure, such as a full disk, may no longer exist.
      if (hasFailed) replace();
      return current.catch(reject);
    },
    watch: (listener) => (lease.owner ? lease.service.watch(listener) : undefined),
    onFailure: failure.listen,
    close: async () => {},
  });
  return {
    service,
    scope: place.scope,
    warnings: lease.warnings,
    close: async () => {
      closed = true;
      await current.then((last) => last.release()).catch(() => {});
      await closeSockets();
    },
  };
}

/** Reports a failed change of owner to callers as an unreachable service. */
function reject(error: unknown): never {
  if (isServiceError(error)) throw error;
  throw new ServiceError('UNREACHABLE', `could not open the embedded service: ${(error as Error).message}`, {
    cause: error,
  });
}

/** The service to connect to or to own. */
interface Wanted {
  readonly home: string;
  readonly root: string;
  readonly cpu: number | undefined;
  readonly engine: EmbeddedEngine;
  readonly onWait: EmbeddedOptions['onWait'];
  readonly ownerMs: number;
  readonly onFailure: (error: Error) => void;
  readonly socketPath: string;
  /** The socket on which the owner accepts requests to be reachable. */
  readonly ownerPath: string;
}

async function acquireLease(wanted: Wanted): Promise<Lease> {
  const { root, ownerMs, onWait } = wanted;
  const begun = performance.now();
  const left = () => ownerMs - (performance.now() - begun);
  const report = () =>
    onWait?.({ origin: root, what: `connect to ${nameOwner(root)}`, waitedMs: performance.now() - begun });
  const reporting = setInterval(report, REPORT_MS);
  const stopReporting = () => clearInterval(reporting);
  try {
    for (let pauseMs = CLAIM_AGAIN_MS; left() > 0; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      // Connecting is cheaper than trying the lock, which starts a program.
      const lease = (await connectToOwnerService(wanted, left())) ?? (await own(wanted, stopReporting));
      if (lease !== undefined) return lease;
      await delay(pauseMs);
    }
  } finally {
    stopReporting();
  }
  const owner = nameOwner(root);
  const why = `${owner} runs it and has not replied for ${Math.round(ownerMs / 1000)} s`;
  const advice = `if it is stopped, continue it (kill -CONT) or end it (kill -KILL): its containers keep running, and its runs can be resumed`;
  throw new ServiceError('UNREACHABLE', `could not connect to the service in ${root}: ${why}; ${advice}`);
}

/** `onClaimed` is called when this process has become the owner, before it opens the service. */
async function own(
  { home, root, cpu, engine, onFailure, socketPath, ownerPath }: Wanted,
  onClaimed: () => void,
): Promise<Lease | undefined> {
  let makeReachable = (): Promise<void> => Promise.reject(new Error('not open yet'));
  const opened: { resolve: () => void; promise: Promise<void> } = createSignal();
  const claim = await claimService({ directory: root, ownerPath }, async () => {
    await opened.promise;
    await makeReachable();
  });
  if (claim === undefined) return undefined;
  onClaimed();
  try {
    const { openOwnService } = await import('./own-service.ts');
    const own = await openOwnService(root, { home, cpu, engine, onFailure });
    await recordOptions(root, engine);
    makeReachable = once(() => own.listen(socketPath));
    opened.resolve();
    return {
      service: own.service,
      owner: true,
      warnings: own.warnings,
      release: async () => {
        await Promise.race([own.close(), delay(CLOSE_MS, undefined, { ref: false })]);
        await claim.release();
      },
    };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

async function connectToOwnerService(
  { root, engine, socketPath, ownerPath, onWait }: Wanted,
  withinMs: number,
): Promise<Lease | undefined> {
  const connection = await connectToOwner(ownerPath, withinMs);
  if (connection === undefined) return undefined;
  try {
    await checkSameOptions(root, engine);
  } catch (error) {
    connection.close();
    throw error;
  }
  const { openOwnerService } = await import('./open-owner-service.ts');
  const service = openOwnerService(socketPath, onWait);
  const lost = new AbortController();
  connection.onOwnerGone(() => lost.abort());
  return {
    service,
    owner: false,
    warnings: [],
    lost: lost.signal,
    release: async () => {
      connection.close();
      await service.close();
    },
  };
}

/** The failure of the service while this process owned it, after which it must not write again: LMDB may have damaged its memory. */
function createFailure() {
  const listeners = new Set<(error: Error) => void>();
  let failed: Error | undefined;
  return {
    report(error: Error) {
      if (failed !== undefined) return;
      failed = error;
      for (const listener of listeners) listener(error);
    },
    listen(listener: (error: Error) => void) {
      listeners.add(listener);
      if (failed !== undefined) listener(failed);
      return () => void listeners.delete(listener);
    },
  };
}

/** Runs the work once and shares its result; after a failure, the next call runs it again. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    });
    return done;
  };
}

function createSignal(): { resolve: () => void; promise: Promise<void> } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { resolve, promise };
}
