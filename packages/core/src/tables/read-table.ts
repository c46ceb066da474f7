import { parse } from 'csv-parse/sync';
import { suggestName } from '../checks/nearest-name.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { own } from '../model/own.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { Columns } from './column-type.ts';
import { convertCell } from './convert-cell.ts';
import { findRowLine } from './find-row-line.ts';

/** A text of rows in CSV, or in TSV if the name of its file ends in `.tsv`. */
export interface TableText {
  /** Its name in diagnostics. */
  readonly file: string;
  readonly text: string;
  /** The types of columns that do not contain strings; the table must have them. */
  readonly columns?: Columns | undefined;
}

/** A row of a table: its values by column. */
export type Row = Readonly<Record<string, Json>>;

const MAX_ROWS = 1_000_000;
const MAX_COLUMNS = 1_000;
const MAX_ROW_BYTES = 1 << 20;
/** Faults that are described; each row may have one. */
const MAX_FAULTS = 20;

/**
 * Reads a table whose first row names its columns. Values may be quoted; lines may end in LF, CRLF or CR; empty lines are
 * omitted. The error contains the faults with their lines.
 */
export function readTable(table: TableText): Result<readonly Row[], readonly Diagnostic[]> {
  const rows = parseRows(table);
  if (!rows.ok) return fail([rows.error]);
  const [header, ...body] = rows.value;
  if (header === undefined) {
    const message = `${table.file} is empty; its first line must name the columns`;
    return fail([{ code: 'bad-table', severity: 'error', message }]);
  }
  const faults = findHeaderFaults(header, table);
  if (faults.length > 0) return fail(faults);
  if (body.length > MAX_ROWS) {
    const message = `the table has more than ${MAX_ROWS} rows, which is the maximum`;
    return fail([faultOfRow(table, MAX_ROWS + 1, message)]);
  }
  const types = header.map((name) => own(table.columns ?? {}, name) ?? 'string');
  const converted = body.map((values, index): Row => {
    const cells = header.map((name, at): [string, Json] => {
      const cell = convertCell(values[at] ?? '', types[at]!);
      if (!cell.ok && faults.length < MAX_FAULTS) {
        faults.push(faultOfRow(table, index + 1, `column \`${name}\` ${cell.error}`));
      }
      return [name, cell.ok ? cell.value : null];
    });
    return Object.fromEntries(cells);
  });
  return faults.length === 0 ? ok(converted) : fail(faults);
}

function parseOptions({ file }: TableText) {
  return {
    bom: true,
    delimiter: file.toLowerCase().endsWith('.tsv') ? '\t' : ',',
    // Without it, the end of the first line decides, and a text with other ends is misread.
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    to: MAX_ROWS + 2,
    max_record_size: MAX_ROW_BYTES,
  };
}

/** What the library throws. */
interface CsvError {
  readonly code: string;
  readonly message: string;
  /** The number of records that were read before. */
  readonly records: number;
  /** The values of a record with another number of them than the first. */
  readonly record?: readonly string[];
}

function parseRows(table: TableText): Result<readonly (readonly string[])[], Diagnostic> {
  try {
    return ok(parse(table.text, parseOptions(table)));
  } catch (error) {
    // The line in the error of the library counts CRLF within quotes twice.
    const { code, message, records, record = [] } = error as CsvError;
    const reason = code === RAGGED ? describeRagged(record.length, table) : REASONS.get(code);
    return fail(faultOfRow(table, records, reason ?? message));
  }
}

const RAGGED = 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH';

function describeRagged(values: number, table: TableText): string {
  const [header = []] = parse(table.text, { ...parseOptions(table), to: 1 });
  return `the row has ${count(values, 'value')}, but the first row names ${count(header.length, 'column')}`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['CSV_QUOTE_NOT_CLOSED', 'a value begins with a quote that is not closed'],
  ['INVALID_OPENING_QUOTE', 'a value contains a quote; write the whole value in quotes, and quotes in it twice'],
  ['CSV_INVALID_CLOSING_QUOTE', 'a value continues after its closing quote; write a quote in a value twice'],
  ['CSV_MAX_RECORD_SIZE', `the row is longer than ${MAX_ROW_BYTES} bytes`],
]);

function findHeaderFaults(header: readonly string[], table: TableText): Diagnostic[] {
  const faults: Diagnostic[] = [];
  const report = (message: string, hint: { readonly hint?: string } = {}): void => {
    faults.push({ ...faultOfRow(table, 0, message), ...hint });
  };
  if (header.length > MAX_COLUMNS) {
    report(`the table has ${header.length} columns; the maximum is ${MAX_COLUMNS}`);
    return faults;
  }
  const known = new Set<string>();
  for (const [index, name] of header.entries()) {
    if (name.trim() === '') report(`column ${index + 1} has no name`);
    else if (name === '__proto__') report('the name `__proto__` cannot be used');
    else if (known.has(name)) report(`two columns have the name \`${name}\``);
    known.add(name);
  }
  for (const name of Object.keys(table.columns ?? {})) {
    if (!known.has(name)) report(`the table has no column \`${name}\``, suggestName(name, known));
  }
  return faults;
}

/** `index`: of the row; 0 is the one with the names. */
function faultOfRow({ file, text }: TableText, index: number, message: string): Diagnostic {
  const line = findRowLine(text, index);
  const range = { file, line, column: 1, endLine: line, endColumn: 1 };
  return { code: 'bad-table', severity: 'error', message, range };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
