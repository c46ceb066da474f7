import { SHOWN_STATUSES } from '@sluice/run';

/** How a status is shown. Its place in `STATUSES` is its code in the model. */
export interface StatusLook {
  /** The status as a word of the API; two looks share `succeeded`. */
  readonly status: Shown['status'];
  /** The letter in `states`. */
  readonly letter: Shown['letter'];
  readonly label: string;
  /** A shape that tells the status without its color. */
  readonly mark: string;
  /** The class whose style has the color. */
  readonly tone: 'calm' | 'busy' | 'person' | 'good' | 'reuse' | 'bad' | 'warn';
}

type Shown = (typeof SHOWN_STATUSES)[number];

const LOOKS: Readonly<Record<Shown['letter'], Pick<StatusLook, 'label' | 'mark' | 'tone'>>> = {
  w: { label: 'waiting', mark: '○', tone: 'calm' },
  q: { label: 'ready', mark: '◔', tone: 'calm' },
  a: { label: 'awaiting approval', mark: '?', tone: 'person' },
  b: { label: 'submitting', mark: '◔', tone: 'busy' },
  p: { label: 'pending', mark: '◑', tone: 'busy' },
  r: { label: 'running', mark: '▶', tone: 'busy' },
  u: { label: 'publishing', mark: '▲', tone: 'busy' },
  s: { label: 'succeeded', mark: '✓', tone: 'good' },
  e: { label: 'reused', mark: '↺', tone: 'reuse' },
  f: { label: 'failed', mark: '✕', tone: 'bad' },
  k: { label: 'skipped', mark: '–', tone: 'calm' },
  c: { label: 'canceled', mark: '⊘', tone: 'warn' },
};

/** Every status of a cell; `succeeded` twice, since a reused result is shown in a different way. */
export const STATUSES: readonly StatusLook[] = SHOWN_STATUSES.map(({ status, letter }) => ({
  ...{ status, letter },
  ...LOOKS[letter],
}));

const BY_LETTER = new Map(STATUSES.map(({ letter }, code) => [letter.charCodeAt(0), code]));
/** The first of two looks with one status is the plain one. */
const BY_STATUS: ReadonlyMap<string, number> = new Map(
  STATUSES.map(({ status }, code) => [status, code] as const).reverse(),
);
const REUSED = codeOfLetter('e'.charCodeAt(0));

/** The code of a running cell. */
export const RUNNING = codeOf('running');
/** The code of a failed cell. */
export const FAILED = codeOf('failed');
/** The code of a cell that awaits an approval. */
export const AWAITING_APPROVAL = codeOf('awaitingApproval');

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

/** The codes of letters, in their order. */
function codesOf(letters: string): number[] {
  return Array.from(letters, (letter) => codeOfLetter(letter.charCodeAt(0)));
}

/** Whether a cell in this state no longer changes. */
export function isFinished(code: number): boolean {
  return SHOWN_STATUSES[code]!.hasEnded;
}

/** The states of a step's cells in the order in which a bar shows them: finished first, and failures before all. */
export const BAR_ORDER: readonly number[] = codesOf('fcsekurpbaqw');

const RUN_LOOKS = new Map(
  Object.entries({
    running: { mark: '▶', tone: 'busy' },
    suspended: { mark: '‖', tone: 'warn' },
    succeeded: { mark: '✓', tone: 'good' },
    failed: { mark: '✕', tone: 'bad' },
    canceled: { mark: '⊘', tone: 'warn' },
  }),
);

/** How the status of a run is shown. */
export function runLook(status: string): Pick<StatusLook, 'mark'> & { readonly tone: string } {
  return RUN_LOOKS.get(status) ?? { mark: '·', tone: 'calm' };
}
