import type { Path, Spot } from '../parse/source-document.ts';

/** A diagnostic whose place is still a path; it becomes a line and a column only when there is something to report. */
export interface Fault extends Spot {
  readonly code: string;
  readonly severity?: 'warning';
  readonly message: string;
  readonly hint?: string;
  /** The map in which a name was looked for in vain: where that map could not be read, the fault is only its consequence. */
  readonly lookedIn?: Path;
  readonly related?: readonly { readonly message: string; readonly path: Path; readonly on?: 'key' }[];
}

export type Report = (fault: Fault) => void;
