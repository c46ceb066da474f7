import type { Launch } from '../engine.ts';
import { dockerName } from './docker-request.ts';

/** The state of a container that the engine watches. */
export interface TrackedContainer {
  readonly launch: Launch;
  /** The daemon's ID, which survives a rename. Until it is known, the name that the container was created with. */
  id: string;
  stopped: boolean;
  /** Another client sent it, through the daemon, a signal that ends most programs. */
  killed: boolean;
  /** The daemon confirmed the start, or an earlier service requested it: if it is no longer listed, it was removed. */
  started: boolean;
  running: boolean;
  /** As reported to the sink, in milliseconds since the epoch; 0 before that. */
  startedAt: number;
  ended: boolean;
  log: Promise<void> | undefined;
}

/** The initial state: neither started nor stopped, identified by its name. */
export function createTrackedContainer(launch: Launch): TrackedContainer {
  return {
    launch,
    id: dockerName(launch.key),
    stopped: false,
    killed: false,
    started: false,
    running: false,
    startedAt: 0,
    ended: false,
    log: undefined,
  };
}
