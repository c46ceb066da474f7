import type { Path, Spot } from '../parse/source-document.ts';

/** A diagnostic whose place is still a path; it becomes a line and a column only when there is something to report. */
export interface Fault extends Spot {
  readonly code: string;
  readonly severity?: 'warning';
  readonly message: string;
  readonly hint?: string;
  /** The map that does not contain a name. If that map could not be read, the fault is only a consequence of that. */
  readonly lookedIn?: Path;
  readonly related?: readonly { readonly message: string; readonly path: Path; readonly on?: 'key' }[];
}

export type Report = (fault: Fault) => void;
