import type { Doubles } from '../expressions/doubles.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { readTypedDocument, type TypedDocument } from '../parse/read-document.ts';
import { readTable, type TableText } from './read-table.ts';

/** The value that a file contains. */
export interface FileValue {
  readonly value: Json;
  /** The whole numbers that its text writes as doubles. */
  readonly doubles?: Doubles | undefined;
}

const READERS: ReadonlyMap<string, (file: TableText) => Result<FileValue, readonly Diagnostic[]>> = new Map([
  ['csv', readRows],
  ['tsv', readRows],
  ['json', readTypedDocument],
  ['yaml', readTypedDocument],
  ['yml', readTypedDocument],
]);

/** Reads the text of a table (`.csv`, `.tsv`) or of one value (`.json`, `.yaml`, `.yml`), by the name of its file. */
export function readValueFile(file: TableText): Result<FileValue, readonly Diagnostic[]> {
  const extension = /\.([^./\\]+)$/.exec(file.file)?.[1]?.toLowerCase() ?? '';
  const read = READERS.get(extension);
  if (read !== undefined) return read(file);
  const message = `could not read a value from ${file.file}: its name must end in .${[...READERS.keys()].join(', .')}`;
  return fail([{ code: 'bad-table', severity: 'error', message }]);
}

/** Reads a file of parameters in YAML or JSON: a map of their values. */
export function readParamsFile(file: {
  readonly file: string;
  readonly text: string;
}): Result<TypedDocument & { readonly value: Readonly<Record<string, Json>> }, readonly Diagnostic[]> {
  const read = readTypedDocument(file);
  if (!read.ok) return read;
  const { value } = read.value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return ok({ ...read.value, value: value as Readonly<Record<string, Json>> });
  }
  const message = `${file.file} must be a map of parameters to their values`;
  const range = read.value.locate({ path: [] });
  return fail([{ code: 'wrong-type', severity: 'error', message, ...(range && { range }) }]);
}

function readRows(table: TableText): Result<FileValue, readonly Diagnostic[]> {
  const rows = readTable(table);
  return rows.ok ? ok({ value: rows.value as unknown as Json }) : rows;
}
