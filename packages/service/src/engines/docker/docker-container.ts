import type { Launch } from '../engine.ts';
import { dockerName } from './docker-request.ts';

/** A container that the engine watches. */
export interface TrackedContainer {
  readonly launch: Launch;
  /** The daemon's own ID, which survives a rename; until that is known, the name that it was created with. */
  id: string;
  stopped: boolean;
  /** Another client has had the daemon send it a signal that ends most programs. */
  killed: boolean;
  running: boolean;
  /** As reported; 0 before that. */
  startedAt: number;
  ended: boolean;
  log: Promise<void> | undefined;
}

export function createTrackedContainer(launch: Launch): TrackedContainer {
  return {
    launch,
    id: dockerName(launch.key),
    stopped: false,
    killed: false,
    running: false,
    startedAt: 0,
    ended: false,
    log: undefined,
  };
}
