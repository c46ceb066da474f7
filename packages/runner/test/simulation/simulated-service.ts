import {
  type Container,
  type ContainerListItem,
  type ContainerService,
  type ContainerSpec,
  type InstanceType,
  isTerminalPhase,
  type Ref,
  type Scope,
  type Volume,
} from '@sluice/client';
import type { Random } from '../../../run/test/random.ts';
import type { Dialect } from './dialect.ts';
import type { CallFate, FaultRates } from './faults.ts';
import { createMemoryFiles, createMemoryVolume, type MemoryVolume } from './memory-files.ts';
import { createReplyWriter } from './reply-writer.ts';
import { serviceFailure } from './service-failure.ts';
import { createSimulatedNetwork } from './simulated-network.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What a container does once it is created. */
export interface Behaviour {
  readonly pendingMs: number;
  readonly runMs: number;
  readonly end: 'Succeeded' | 'Failed' | 'Unknown';
  /** Decides the end by the container, at its end; takes the place of `end`. */
  readonly endOf?: (container: Container) => Behaviour['end'];
  readonly exitCode?: number;
  readonly outOfMemory?: boolean;
  /** The record vanishes while it runs, as after a fault of the service's own. */
  readonly vanishes?: boolean;
  /** Like `vanishes`, but another container is under its ID afterwards, which runs for a while and succeeds. */
  readonly replaced?: boolean;
  /** Called when its process starts. */
  readonly begin?: (container: Container) => void;
  /** Called at its end when it succeeds: writes its outputs. */
  readonly work?: (container: Container) => void;
}

/** One container as the service knows it, with what only the service knows. */
export interface SimulatedContainer {
  readonly incarnation: number;
  readonly createdAt: number;
  visibleAt: number;
  /** It is absent from get and list between these times. */
  absent?: { readonly from: number; readonly to: number };
  startedAt?: number;
  wire: Container;
  /** As it was before its last change. */
  before?: Container;
  /** Whether its process is alive. */
  live: boolean;
}

/** Something that the service did: the evidence that invariants are checked against. */
export type ServiceDeed =
  | { readonly kind: 'created'; readonly at: number; readonly id: string; readonly container: SimulatedContainer }
  | { readonly kind: 'ended'; readonly at: number; readonly id: string; readonly container: SimulatedContainer }
  | { readonly kind: 'asked'; readonly at: number; readonly call: string; readonly id: string | undefined };

export interface SimulationOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly dialect: Dialect;
  /** Looked at for each call, so that faults can be stopped. */
  readonly faults: () => FaultRates;
  readonly behave: (spec: ContainerSpec) => Behaviour;
  /** Hears of each deed at once. */
  readonly onDeed?: (deed: ServiceDeed) => void;
  /** Containers that may be live at once; more are answered with 429. */
  readonly quota?: number;
  /** What the gate answers to every call at this moment; undefined lets them through. */
  readonly gate?: () => CallFate['gate'];
  /** Whether `watch` gives hints. */
  readonly hints?: boolean;
  readonly clusterID?: string;
  /** What its instance types announce. */
  readonly features?: readonly string[];
}

/** A v1rc1 service in memory and in virtual time, with everything that can go wrong on the way to it. */
export interface SimulatedService {
  readonly service: ContainerService;
  readonly containers: ReadonlyMap<string, SimulatedContainer>;
  readonly volumes: ReadonlyMap<string, MemoryVolume>;
  /** IDs of creates that will arrive although their callers have given up waiting. */
  readonly inFlight: ReadonlySet<string>;
  /** Calls so far, by name. */
  readonly calls: ReadonlyMap<string, number>;
}

/** How long what takes a container's place runs: so long that its end must be waited for. */
const REPLACED_MS = 10 * 60_000;
const RETENTION_MS = 7 * 24 * 3_600_000;

export function createSimulatedService(options: SimulationOptions): SimulatedService {
  const { clock, random, dialect, faults, clusterID = 'sim' } = options;
  const instanceTypes: InstanceType[] = [1, 2, 4, 8].map((cores) => ({
    id: `sim-${cores}`,
    clusterID,
    cpu: { cores },
    memory: { sizeGB: cores * 4 },
    gpu: { count: 0 },
    ...(options.features && { features: [...options.features] }),
  }));
  const containers = new Map<string, SimulatedContainer>();
  const volumes = new Map<string, MemoryVolume>();
  const listeners = new Set<(hint: { clusterID: string; accountID: string; containerID: string }) => void>();
  /** IDs of records that have vanished: whatever comes late for them must not start them again. */
  const vanished = new Set<string>();
  let incarnations = 0;
  const describe = createReplyWriter({ clock, random, dialect, faults });
  const { call, overNetwork, calls, inFlight } = createSimulatedNetwork({
    clock,
    random,
    faults,
    ...(options.gate && { gate: options.gate }),
    onCall: (name, id) => options.onDeed?.({ kind: 'asked', at: clock.now(), call: name, id }),
  });

  function visible(ref: Ref): SimulatedContainer {
    const found = containers.get(ref.id);
    if (!found || !isVisible(found)) throw serviceFailure('NOT_FOUND', `container ${ref.id} is not there`, 404);
    return found;
  }

  function isVisible({ visibleAt, absent }: SimulatedContainer): boolean {
    const now = clock.now();
    return visibleAt <= now && !(absent && absent.from <= now && now < absent.to);
  }

  function create(scope: Scope, spec: ContainerSpec, id: string): Container {
    const existing = containers.get(id);
    if (existing) {
      if (dialect.conflict === 'echo') return existing.wire;
      if (dialect.conflict === 400) throw serviceFailure('INVALID_ARGUMENT', `container ${id} exists`, 400);
      throw serviceFailure('ALREADY_EXISTS', `container ${id} exists`, 409);
    }
    if (vanished.has(id)) throw serviceFailure('ALREADY_EXISTS', `container ${id} has existed`, 409);
    const live = [...containers.values()].filter((container) => container.live).length;
    if (options.quota !== undefined && live >= options.quota)
      throw serviceFailure('RESOURCE_EXHAUSTED', 'the quota is used up', 429);
    if (!instanceTypes.some((type) => type.id === spec.instanceType)) {
      throw serviceFailure('INVALID_ARGUMENT', `there is no instance type ${spec.instanceType}`, 400);
    }
    for (const key of Object.keys(spec.volumeMounts ?? {})) mountable(key);
    const incarnation = ++incarnations;
    const made: SimulatedContainer = {
      incarnation,
      createdAt: clock.now(),
      visibleAt: clock.now() + dialect.readLagMs,
      live: true,
      wire: {
        ...(structuredClone(spec) as unknown as Container),
        ...scope,
        id,
        phase: 'Creating',
        state: 'being created',
        runID: `r${incarnation}`,
        ports: assignPorts(spec, incarnation),
        createTime: new Date(clock.now()).toISOString(),
      },
    };
    containers.set(id, made);
    options.onDeed?.({ kind: 'created', at: clock.now(), id, container: made });
    play(id, made, options.behave(spec));
    if (!dialect.terseCreate) return made.wire;
    const { phase: _phase, state: _state, labels: _labels, ...terse } = made.wire;
    return terse as Container;
  }

  function mountable(key: string): void {
    const [volume = '', path = '', option] = key.split(':');
    const found = volumes.get(volume);
    if (!found) throw serviceFailure('INVALID_ARGUMENT', `there is no volume ${volume}`, 400);
    if (option === 'dir') {
      if (path)
        for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
          found.directories.add(path.slice(0, end));
      return;
    }
    if (path && !found.files.has(path) && !found.directories.has(path)) {
      throw serviceFailure('INVALID_ARGUMENT', `volume ${volume} has no ${path}`, 400);
    }
  }

  function play(id: string, made: SimulatedContainer, behaviour: Behaviour): void {
    const later = (ms: number, action: () => void) =>
      clock.setTimer(clock.now() + ms, () => {
        if (containers.get(id) === made && made.live) action();
      });
    later(Math.floor(behaviour.pendingMs / 2), () =>
      move(made, dialect.unknownPhase ? 'Warming' : 'Pending', 'pulling'),
    );
    later(behaviour.pendingMs, () => {
      made.startedAt = clock.now();
      behaviour.begin?.(made.wire);
      if (!dialect.hidesRunning) move(made, 'Running', 'running', { startTime: new Date(clock.now()).toISOString() });
      if (dialect.requeues) requeue(made, { afterMs: Math.min(behaviour.runMs / 3, 5000), later });
      if (dialect.absentMs > 0) {
        const from = clock.now() + behaviour.runMs / 4;
        made.absent = { from, to: from + dialect.absentMs };
      }
      if (behaviour.vanishes) later(behaviour.runMs / 2, () => vanish(id, made));
      if (behaviour.replaced) later(behaviour.runMs / 2, () => replace(id, made));
      later(behaviour.runMs, () => {
        const decided = { ...behaviour, end: behaviour.endOf?.(made.wire) ?? behaviour.end };
        if (decided.end === 'Succeeded') decided.work?.(made.wire);
        end(id, made, decided.end, describeEnd(decided));
      });
    });
  }

  /** The service starts it anew: the same container, of which the runner must start no other. */
  function requeue(
    made: SimulatedContainer,
    { afterMs, later }: { readonly afterMs: number; readonly later: (ms: number, action: () => void) => void },
  ): void {
    later(afterMs, () => {
      if (made.wire.phase === 'Canceling') return;
      move(made, 'Pending', 'requeued', { runID: `r${++incarnations}` });
      if (dialect.hidesRunning) return;
      later(afterMs / 2, () => {
        if (made.wire.phase === 'Pending') move(made, 'Running', 'running');
      });
    });
  }

  function describeEnd(behaviour: Behaviour): string {
    if (behaviour.end === 'Succeeded') return 'completed';
    if (behaviour.end === 'Unknown') return 'the node is gone';
    if (!dialect.namesExitCode) return 'failed';
    const code = behaviour.exitCode ?? 1;
    return behaviour.outOfMemory ? `out of memory (exit code ${code})` : `exit code ${code}`;
  }

  function move(made: SimulatedContainer, phase: string, state: string, more: Partial<Container> = {}): void {
    made.before = made.wire;
    made.wire = { ...made.wire, phase, state, ...more };
    hint(made);
  }

  function end(id: string, made: SimulatedContainer, phase: string, state: string): void {
    if (!made.live) return;
    made.live = false;
    move(made, phase, state, { endTime: new Date(clock.now()).toISOString(), runTime: 1 });
    options.onDeed?.({ kind: 'ended', at: clock.now(), id, container: made });
    clock.setTimer(clock.now() + RETENTION_MS, () => {
      if (containers.get(id) === made) containers.delete(id);
    });
  }

  function vanish(id: string, made: SimulatedContainer): void {
    made.live = false;
    containers.delete(id);
    vanished.add(id);
    options.onDeed?.({ kind: 'ended', at: clock.now(), id, container: made });
  }

  function replace(id: string, made: SimulatedContainer): void {
    vanish(id, made);
    const incarnation = ++incarnations;
    const createTime = new Date(clock.now()).toISOString();
    const wire = { ...made.wire, labels: {}, phase: 'Running', state: 'running', runID: `r${incarnation}`, createTime };
    const other = { incarnation, createdAt: clock.now(), visibleAt: clock.now(), live: true, wire };
    containers.set(id, other);
    clock.setTimer(clock.now() + REPLACED_MS, () => end(id, other, 'Succeeded', 'completed'));
  }

  function hint(made: SimulatedContainer): void {
    const { clusterID, accountID, id } = made.wire;
    for (const listener of listeners) listener({ clusterID, accountID, containerID: id });
  }

  function cancel(ref: Ref): void {
    const found = visible(ref);
    if (!found.live) {
      if (dialect.cancelEnded === 204) return;
      if (dialect.cancelEnded === 404) throw serviceFailure('NOT_FOUND', `container ${ref.id} has ended`, 404);
      throw serviceFailure('FAILED_PRECONDITION', `container ${ref.id} has ended`, 400);
    }
    if (found.wire.phase === 'Canceling') return;
    move(found, 'Canceling', 'being canceled');
    clock.setTimer(clock.now() + 500, () => end(ref.id, found, 'Canceled', 'canceled'));
  }

  function page(all: boolean, options: { from: string; size: number }): { items: ContainerListItem[]; next: string } {
    const { from, size } = options;
    if (dialect.list === 500) throw serviceFailure('UNAVAILABLE', 'the service answered 500', 500);
    if (dialect.list === 403) throw serviceFailure('PERMISSION_DENIED', 'the service answered 403', 403);
    if (size > dialect.pageSize && dialect.rejectsLargePages && size > 100)
      throw serviceFailure('INVALID_ARGUMENT', 'page too large', 400);
    const ids = [...containers.keys()].sort().filter((id) => id > from);
    const shown = ids.filter((id) => {
      const container = containers.get(id)!;
      return isVisible(container) && (all || isListed(container));
    });
    const items = shown.slice(0, Math.min(size, dialect.pageSize)).map((id) => {
      const { id: _, clusterID, accountID, image, phase, state, createTime } = describe(containers.get(id)!);
      return { id, clusterID, accountID, ...(image && { image }), phase, state, createTime } as ContainerListItem;
    });
    return { items, next: shown.length > items.length ? items.at(-1)!.id : '' };
  }

  /** Whether the list without `all` has it. */
  function isListed({ wire: { phase = '' } }: SimulatedContainer): boolean {
    return dialect.listsOnlyRunning ? phase === 'Running' : !isTerminalPhase(phase);
  }

  const service: ContainerService = {
    discovery: {
      listAccounts: () => call('listAccounts', undefined, () => [{ clusterID, accountID: 'me' }]),
      // Of one cluster only what it can do is asked: that draws nothing, so that kept scenarios stay as they were.
      listInstanceTypes: async (cluster) =>
        cluster === '-' ? call('listInstanceTypes', undefined, () => instanceTypes) : instanceTypes,
    },
    containers: {
      create: (scope, spec, { containerID } = {}) =>
        call('create', containerID, () => create(scope, spec, containerID!)),
      get: (ref) => call('get', ref.id, () => describe(visible(ref))),
      async *list(_scope, { all = false, pageSize = 100 } = {}) {
        for (let from = ''; ; ) {
          const { items, next } = await call('list', undefined, () => page(all, { from, size: pageSize }));
          yield* items;
          if (dialect.list === 'loops') throw serviceFailure('INVALID_REPLY', 'page after page without an end', 200);
          if (next === '') return;
          from = next;
        }
      },
      async *logs(ref) {
        yield await call('logs', ref.id, () => {
          visible(ref);
          return Buffer.from(`the log of ${ref.id}\nits last line\n`);
        });
      },
      cancel: (ref) => call('cancel', ref.id, () => cancel(ref)),
      delete: (ref) =>
        call('delete', ref.id, () => {
          const found = visible(ref);
          containers.delete(ref.id);
          found.live = false;
        }),
    },
    volumes: {
      create: (scope, { volumeID, transfer } = {}) =>
        call('createVolume', volumeID, () => {
          const id = volumeID ?? `v-${volumes.size}`;
          if (volumes.has(id)) throw serviceFailure('ALREADY_EXISTS', `volume ${id} exists`, 409);
          volumes.set(id, createMemoryVolume());
          const login = { username: id, password: 'secret', address: { webdav: `https://sim/${id}` } };
          return { id, ...scope, phase: 'Available', ...(transfer && { service: login }) } as Volume;
        }),
      async *list(scope) {
        const all = await call('listVolumes', undefined, () => [...volumes.keys()]);
        for (const id of all) yield { id, ...scope, phase: 'Available' };
      },
      delete: (ref) => call('deleteVolume', ref.id, () => void volumes.delete(ref.id)),
      undelete: () => call('undeleteVolume', undefined, () => {}),
      files(ref) {
        const volume = volumes.get(ref.id);
        if (!volume) throw serviceFailure('NOT_FOUND', `there is no volume ${ref.id}`, 404);
        return overNetwork(createMemoryFiles(volume));
      },
    },
    watch(listener) {
      if (!options.hints) return undefined;
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {},
  };
  return { service, containers, volumes, inFlight, calls };
}

function assignPorts(spec: ContainerSpec, incarnation: number): NonNullable<Container['ports']> {
  const named = Object.entries(spec.ports ?? {}).map(([name, port], index) => {
    const https = port.https ? { https: { host: `${name}-${incarnation}.sim` } } : {};
    return [name, { port: 20_000 + incarnation + index, ...https }] as const;
  });
  return Object.fromEntries(named);
}
