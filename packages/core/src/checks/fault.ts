import type { Path, Spot } from '../parse/source-document.ts';

/** A diagnostic whose position is still a path. It is converted to line and column only if it is reported. */
export interface Fault extends Spot {
  readonly code: string;
  readonly severity?: 'warning';
  readonly message: string;
  readonly hint?: string;
  /** The map that does not contain a name. If that map could not be read, the fault is only a consequence. */
  readonly lookedIn?: Path;
  readonly related?: readonly { readonly message: string; readonly path: Path; readonly on?: 'key' }[];
}

/** Collects faults, in any order. */
export type Report = (fault: Fault) => void;
