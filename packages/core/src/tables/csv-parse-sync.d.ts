// The package's own declarations import those of Node.js, whose globals this package must not see (docs/decisions/0003).

interface ParseOptions {
  readonly bom: boolean;
  readonly delimiter: string;
  readonly record_delimiter: string[];
  readonly skip_empty_lines: boolean;
  /** The last record that is read, from 1. */
  readonly to: number;
  /** In bytes. */
  readonly max_record_size: number;
}

/** Throws an error with `code`, `records` and `record`. */
export function parse(text: string, options: ParseOptions): string[][];
