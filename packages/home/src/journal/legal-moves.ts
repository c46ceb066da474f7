/**
 * Who may execute a run of a home. `free`: whichever process claims it. `host`: the process that hosts the runs of the home.
 * `ordering`: no process of the home, since a server perhaps does. `server`: a server does, or did to its end. `collecting` and
 * `collectingCopy`: no process, since a garbage collection removes the run, or this home's copy of a run of a server.
 */
export const CUSTODY_STATES = ['free', 'host', 'ordering', 'server', 'collecting', 'collectingCopy'] as const;

/** One of `CUSTODY_STATES`. */
export type CustodyState = (typeof CUSTODY_STATES)[number];

/**
 * The next state of a run for each move and each present state; absent: the move is illegal there. A state only says who may
 * execute the run. A process executes it while it holds the claim of the run, and reads the state after it has the claim.
 */
export const LEGAL_MOVES = {
  /** A command leaves the run to the host of the home. */
  detach: { free: 'host', host: 'host' },
  /** A command executes the run itself. */
  take: { free: 'free', host: 'free' },
  /** The host has recorded the end of the run. */
  end: { free: 'free', host: 'free' },
  /** A command is about to order the run from a server. */
  order: { free: 'ordering', ordering: 'ordering', server: 'server' },
  /** The server has the run. */
  accept: { ordering: 'server', server: 'server' },
  /** The server has rejected the order: the run does not exist. */
  reject: { ordering: 'free' },
  /** A command copies a run that another home has ordered, or the server itself has started. */
  copy: { free: 'server', ordering: 'server', server: 'server' },
  /** A garbage collection is about to remove the run. */
  collect: { free: 'collecting', server: 'collectingCopy', collecting: 'collecting', collectingCopy: 'collectingCopy' },
  /** The garbage collection keeps the run. */
  keep: { free: 'free', server: 'server', collecting: 'free', collectingCopy: 'server' },
} as const satisfies Record<string, Partial<Record<CustodyState, CustodyState>>>;

/** What changes who may execute a run. */
export type CustodyMove = keyof typeof LEGAL_MOVES;

/** The state after a move; undefined if it is illegal. */
export function nextState(move: CustodyMove, state: CustodyState): CustodyState | undefined {
  const moves: Partial<Record<CustodyState, CustodyState>> = LEGAL_MOVES[move];
  return moves[state];
}
