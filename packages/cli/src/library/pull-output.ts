import { pullOutput as pullOfRunner } from '@sluice/runner';
import { parseAddress } from '../runs/parse-address.ts';
import { type Connection, withServiceOf } from './connection.ts';
import { attempt, unwrap } from './error-code.ts';
import { homeOf } from './home-of.ts';
import { OPTIONS, readArgument, TEXT } from './read-options.ts';
import type { HomeOptions } from './runs.ts';

/** An output that was copied; the keys are those of `sluice pull --json`. */
export interface PulledOutput {
  /** `NAME` or `STEP[/CELL].OUTPUT`. */
  readonly output: string;
  /** The directory or file in the output; absent for all of it. */
  readonly path?: string;
  /** The copy, as given. */
  readonly to: string;
  readonly files: number;
  readonly bytes: number;
  /** For example about skipped links. */
  readonly warnings: readonly string[];
}

/**
 * Copies an output of a run, `NAME` or `STEP[/CELL].OUTPUT`, to the local directory `to`, which is replaced as a whole. With
 * `/PATH` after an output of a step, copies a directory of it, or a file to the local file `to`. Returns what was copied.
 * Throws `SluiceError`: `SOURCE_MISSING` if the run has no such output or path, `TARGET_REJECTED` if `to` holds something
 * that Sluice did not write.
 *
 * @example
 * ```ts
 * import { pullOutput } from 'sluice';
 *
 * const { files, bytes, warnings } = await pullOutput('3o75', 'model', { to: './model' });
 * console.log(files, bytes, warnings);
 * await pullOutput('3o75', 'fit.model/logs/loss.csv', { to: './loss.csv' });
 * ```
 */
export async function pullOutput(
  runId: string,
  output: string,
  options: HomeOptions & { readonly to: string; readonly service?: Connection; readonly profile?: string },
): Promise<PulledOutput> {
  readArgument('pullOutput: run', TEXT, runId);
  readArgument('pullOutput: output', TEXT, output);
  const { to, ...choice } = readArgument('pullOutput', OPTIONS.pull, options);
  const home = homeOf(choice);
  let copied = { files: 0, bytes: 0 };
  const onProgress = ({ files, bytes }: typeof copied) => {
    copied = { files, bytes };
  };
  const warnings = await withServiceOf(runId, choice, async (service) =>
    unwrap(await attempt(() => pullOfRunner({ home, runId, output, to, service, onProgress }))),
  );
  return { ...splitPath(output), to, ...copied, warnings };
}

function splitPath(name: string): Pick<PulledOutput, 'output' | 'path'> {
  const address = parseAddress(name);
  const path = address.ok ? address.value.path : undefined;
  if (path === undefined) return { output: name.replace(/\/+$/, '') };
  return { output: name.slice(0, name.indexOf('/', name.indexOf('.'))), path };
}
