import type { Random } from '../../../run/test/random.ts';

/** What the protocol leaves open and a service decides for itself. */
export interface Dialect {
  /** Create under an ID that is in use. */
  readonly conflict: 409 | 400 | 'echo';
  /** Milliseconds until a created container can be got and listed. */
  readonly readLagMs: number;
  /** Items that the list gives per page at most. */
  readonly pageSize: number;
  /** A larger page than that is rejected instead of cut. */
  readonly rejectsLargePages: boolean;
  /** Cancel of a container that has ended. */
  readonly cancelEnded: 204 | 400 | 404;
  /** Times with `Z` and a fraction, or with an offset, differing between create and get. */
  readonly mixedTimes: boolean;
  /** A phase that no table lists comes between Pending and Running. */
  readonly unknownPhase: boolean;
  /** A reply to create has no phase and no labels. */
  readonly terseCreate: boolean;
  /** The state's text names the exit code. */
  readonly namesExitCode: boolean;
  /** Running is never to be seen: containers go from Pending to their end. */
  readonly hidesRunning: boolean;
  /** The list without `all` has only what is Running, as the protocol says, and not what is on its way there. */
  readonly listsOnlyRunning: boolean;
  /** The list of containers never works: it is answered with an error, or gives the same page token again and again. */
  readonly list: 'works' | 500 | 403 | 'loops';
  /** Replies about a container that is Running have a field of a wrong type, so that they cannot be read. */
  readonly writesWrongTypes: boolean;
  /** How every reply but the one to create writes `createTime`. */
  readonly times: 'exact' | 'rounded' | 'zoneless' | 'drifting';
  /** Once it runs, a container is taken back to Pending and started again, as another run under the same ID. */
  readonly requeues: boolean;
  /** Replies have no labels, but for the one to create. */
  readonly hidesLabels: boolean;
  /** Milliseconds that a container is absent from get and list while it runs. */
  readonly absentMs: number;
}

/** Our own service's answers. */
export const OWN_DIALECT: Dialect = {
  conflict: 409,
  readLagMs: 0,
  pageSize: 1000,
  rejectsLargePages: false,
  cancelEnded: 400,
  mixedTimes: false,
  unknownPhase: false,
  terseCreate: false,
  namesExitCode: true,
  hidesRunning: false,
  listsOnlyRunning: false,
  list: 'works',
  writesWrongTypes: false,
  times: 'exact',
  requeues: false,
  hidesLabels: false,
  absentMs: 0,
};

/** A runner may treat a container that is absent for longer as lost. */
const LONGEST_ABSENCE_MS = 290_000;

export function drawDialect(random: Random): Dialect {
  const drawn = {
    conflict: random.pick([409, 409, 400, 'echo'] as const),
    readLagMs: random.pick([0, 0, 300, 3000]),
    pageSize: random.pick([2, 10, 100, 1000]),
    rejectsLargePages: random.chance(0.3),
    cancelEnded: random.pick([204, 400, 404] as const),
    mixedTimes: random.chance(0.3),
    unknownPhase: random.chance(0.3),
    terseCreate: random.chance(0.3),
    namesExitCode: random.chance(0.7),
    hidesRunning: random.chance(0.2),
    listsOnlyRunning: random.chance(0.3),
    list: random.chance(0.15) ? random.pick([500, 403, 'loops'] as const) : ('works' as const),
    writesWrongTypes: random.chance(0.1),
    times: random.pick(['exact', 'exact', 'rounded', 'zoneless', 'drifting'] as const),
    requeues: random.chance(0.3),
    hidesLabels: random.chance(0.2),
    absentMs: random.chance(0.15) ? random.pick([20_000, 90_000, 200_000]) : 0,
  };
  const readLagMs = random.chance(0.1) ? random.pick([90_000, 200_000]) : drawn.readLagMs;
  // One absence may follow the other unseen, and a container that is absent for five minutes counts as lost (decision 0028).
  return { ...drawn, readLagMs, absentMs: Math.min(drawn.absentMs, LONGEST_ABSENCE_MS - readLagMs) };
}

/** Whether a runner can come to know that a container runs. */
export function showsRunning({ hidesRunning, writesWrongTypes }: Dialect): boolean {
  return !hidesRunning && !writesWrongTypes;
}
