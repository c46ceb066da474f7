import { resolve } from 'node:path';
import { type Columns, fail, ok, readTable, SluiceError, type TableRow } from '@sluice/core';
import { openPipelineFiles } from '../pipeline/pipeline-files.ts';
import { attempt, unwrap } from './error-code.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';

/** What is known of a table before it is read. */
export interface TableOptions<C> {
  /** The types of columns, which the table must have; the others contain strings. */
  readonly columns?: C;
}

/**
 * Reads a table (CSV, or TSV if the name ends in `.tsv`) whose first row names its columns, for example as the items of an
 * axis. Throws `SluiceError` `INVALID_PIPELINE` with the faults of the table.
 *
 * @example
 * ```ts
 * import { loadTable, pipeline } from 'sluice';
 *
 * const samples = await loadTable('samples.csv', { columns: { id: 'string', lanes: 'integer' } });
 * const p = pipeline('align', { params: { samples } });
 * const sample = p.axis('sample', { items: p.params.samples, key: (item) => item.id });
 * p.step('align', { each: sample, command: ['align', sample.item.id] });
 * ```
 */
export async function loadTable<const C extends Columns = { readonly [column: string]: 'string' }>(
  file: string,
  options: TableOptions<C> = {},
): Promise<readonly TableRow<C>[]> {
  return unwrap(
    await attempt(async () => {
      const name = readArgument('loadTable: file', TEXT, file);
      const { columns } = readArgument('loadTable', OPTIONS.table, options);
      const path = resolve(name);
      const text = openPipelineFiles(path, { cwd: process.cwd() }).readMain();
      if (!text.ok) return fail(new SluiceError('SYSTEM', `could not read ${path}: ${text.error}`));
      const rows = readTable({ file: name, text: text.value, columns });
      return rows.ok ? ok(rows.value as readonly TableRow<C>[]) : fail(rows.error);
    }),
  );
}
