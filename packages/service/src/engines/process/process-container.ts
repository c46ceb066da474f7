import type { Launch, Observation } from '../engine.ts';

/**
 * The state of a container that the engine watches. Ended and absent containers are kept until `remove`, so that nothing is
 * reported twice.
 */
export interface TrackedContainer {
  /** ID for the launcher; renewed whenever another process is watched for this container. */
  id: string;
  readonly launch: Launch;
  /** `live`: the current launcher watches it. */
  state: 'launching' | 'adopting' | 'live' | 'ended';
  isAbsent: boolean;
  /** When to kill it, by a monotonic clock; undefined if no stop is requested. */
  killAt: number | undefined;
  killTimer: NodeJS.Timeout | undefined;
  /** Everything that was reported, to repeat it on `recover`. */
  readonly observations: Observation[];
  /** Settles `launch` or `recover`. */
  readonly taken: Deferred;
}

/** The initial state, without observations. */
export function createTrackedContainer(from: Pick<TrackedContainer, 'id' | 'launch' | 'state'>): TrackedContainer {
  return {
    ...from,
    isAbsent: false,
    killAt: undefined,
    killTimer: undefined,
    observations: [],
    taken: createDeferred(),
  };
}

/** Whether its start has been reported. */
export function isKnownToRun({ observations }: TrackedContainer): boolean {
  return observations.some(({ type }) => type === 'running');
}

/** A promise that is settled from outside. An unhandled rejection is not reported. */
interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

function createDeferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  promise.catch(() => {});
  if (settle === undefined) throw new Error('could not create a deferred: the promise did not run its executor');
  return { promise, ...(settle as Omit<Deferred, 'promise'>) };
}
