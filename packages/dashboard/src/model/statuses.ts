/** How a status is shown. Its place in `STATUSES` is its code in the model. */
export interface StatusLook {
  /** The status as a word of the API; two looks share `succeeded`. */
  readonly status: string;
  /** The letter in `states`. */
  readonly letter: string;
  readonly label: string;
  /** A shape that tells the status without its color. */
  readonly mark: string;
  /** The class whose style has the color. */
  readonly tone: 'calm' | 'busy' | 'person' | 'good' | 'reuse' | 'bad' | 'warn';
}

/** Every status of a cell; `succeeded` twice, since a reused result is shown in a different way. */
export const STATUSES: readonly StatusLook[] = [
  { status: 'waiting', letter: 'w', label: 'waiting', mark: '○', tone: 'calm' },
  { status: 'ready', letter: 'q', label: 'ready', mark: '◔', tone: 'calm' },
  { status: 'submitting', letter: 'b', label: 'submitting', mark: '◔', tone: 'busy' },
  { status: 'pending', letter: 'p', label: 'pending', mark: '◑', tone: 'busy' },
  { status: 'running', letter: 'r', label: 'running', mark: '▶', tone: 'busy' },
  { status: 'publishing', letter: 'u', label: 'publishing', mark: '▲', tone: 'busy' },
  { status: 'awaitingApproval', letter: 'a', label: 'awaiting approval', mark: '?', tone: 'person' },
  { status: 'succeeded', letter: 's', label: 'succeeded', mark: '✓', tone: 'good' },
  { status: 'succeeded', letter: 'e', label: 'reused', mark: '↺', tone: 'reuse' },
  { status: 'failed', letter: 'f', label: 'failed', mark: '✕', tone: 'bad' },
  { status: 'skipped', letter: 'k', label: 'skipped', mark: '–', tone: 'calm' },
  { status: 'canceled', letter: 'c', label: 'canceled', mark: '⊘', tone: 'warn' },
];

const WAITING = 0;
/** The code of a running cell. */
export const RUNNING = 4;
/** The code of a cell that awaits an approval. The codes after it are final. */
export const AWAITING_APPROVAL = 6;
/** The code of a failed cell. */
export const FAILED = 9;

const REUSED = 8;
const BY_LETTER = new Map(STATUSES.map(({ letter }, code) => [letter.charCodeAt(0), code]));
/** The first of two looks with one status is the plain one. */
const BY_STATUS = new Map(STATUSES.map(({ status }, code) => [status, code] as const).reverse());

/** The code of a letter of `states`. Throws for a letter that no status has. */
export function codeOfLetter(charCode: number): number {
  const code = BY_LETTER.get(charCode);
  if (code === undefined) throw new Error(`no status has the letter ${String.fromCharCode(charCode)}`);
  return code;
}

/** The code of a status word. Throws for a word that no status has. */
export function codeOf(status: string, reused = false): number {
  const code = reused ? REUSED : BY_STATUS.get(status);
  if (code === undefined) throw new Error(`there is no status ${status}`);
  return code;
}

/** Whether a cell in this state no longer changes. */
export function isFinished(code: number): boolean {
  return code > AWAITING_APPROVAL;
}

/** The states of a step's cells in the order in which a bar shows them: finished first, and failures before all. */
export const BAR_ORDER: readonly number[] = [9, 11, 7, 8, 10, 5, 4, 3, 2, 6, 1, 0];

/** The state that stands for many cells: the first of these that any of them has. */
const SUMMARY_ORDER: readonly number[] = [9, 6, 4, 5, 3, 2, 1, 0, 11, 7, 8, 10];

/** The code that stands for a step with these numbers of cells by code; `waiting` without cells. */
export function summarize(counts: ArrayLike<number>): number {
  // A step of which some cells have finished and others have not begun is in progress.
  const hasFinished = BAR_ORDER.slice(0, 5).some((code) => counts[code]! > 0);
  const found = SUMMARY_ORDER.find((code) => counts[code]! > 0) ?? WAITING;
  return hasFinished && (found === WAITING || found === 1) ? RUNNING : found;
}
