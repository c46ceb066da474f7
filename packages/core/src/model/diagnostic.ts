/** A place in a file. Lines and columns count from 1, columns in UTF-16 units. */
export interface SourceRange {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Something wrong in the user's file. Data only: `renderDiagnostic` makes the text and the code frame. */
export interface Diagnostic {
  /** Stable name of the check, kebab-case: `unknown-key`, `cycle`. Its page is `docs/checks.md`. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** What is wrong with what, and why; no full stop. */
  readonly message: string;
  /** Absent for what has no place in a file, for example a parameter given on the command line. */
  readonly range?: SourceRange;
  /** What to do next, for example the nearest right name. */
  readonly hint?: string;
  /** Other places that belong to it: the first definition, the other steps of a cycle. */
  readonly related?: readonly { readonly message: string; readonly range: SourceRange }[];
}
