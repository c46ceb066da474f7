/** A range in a file. Lines and columns count from 1, columns in UTF-16 code units; the end is exclusive. */
export interface SourceRange {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** A problem in the user's file, as data. `renderDiagnostic` produces the text. */
export interface Diagnostic {
  /** Stable name of the check, kebab-case: `unknown-key`, `cycle`. Its page is `docs/checks.md`. */
  readonly code: string;
  readonly severity: 'error' | 'warning';
  /** What is wrong with what, and why; without a final period. */
  readonly message: string;
  /** Absent if there is no position, for example for a parameter given on the command line. */
  readonly range?: SourceRange;
  /** What to do next, for example the nearest valid name. */
  readonly hint?: string;
  /** Related positions: the first definition, the other steps of a cycle. */
  readonly related?: readonly { readonly message: string; readonly range: SourceRange }[];
}
