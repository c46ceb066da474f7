import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { replaceFile } from '@sluice/host-system';
import { type RunReport, renderJunit } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { suggestCommand } from '../context/suggest-command.ts';

/** Options of commands that know how a run has ended. */
export interface JunitOptions extends GlobalOptions {
  /** A file for the result of the run as JUnit XML, relative to the working directory. */
  readonly junit?: string;
}

/** Writes the file for `--junit`, if it was requested, as a whole or not at all. Resolves to why it could not. */
export async function writeJunit(
  report: RunReport,
  { context: { cwd }, options: { junit, ...options } }: { context: Pick<CommandContext, 'cwd'>; options: JunitOptions },
): Promise<CommandError | undefined> {
  if (junit === undefined) return undefined;
  const file = resolve(cwd, junit);
  const reject = (cause: string) => ({
    exitCode: EXIT_CODE.runFailed,
    code: 'REJECTED',
    message: `could not write ${file}: ${cause}; write another file with: ${suggestCommand(['report', report.runId, '--junit', 'junit.xml'], options)}`,
  });
  try {
    // The file replaces what has its name: it must not replace a device or a pipe.
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) return reject('it is not a regular file');
    await replaceFile(file, renderJunit(report), { mode: 0o644 });
    return undefined;
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return reject(error.message);
    throw error;
  }
}
