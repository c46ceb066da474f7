import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { check } from './check.ts';

/**
 * `sluice check` for an assistant. Errors quote the file, so that only files below the working directory are checked:
 * a text that the assistant has read may have asked it for another one.
 */
export async function checkFile(
  file: string,
  {
    context,
    options,
    param,
  }: { context: CommandContext; options: GlobalOptions; param: Readonly<Record<string, string>> | undefined },
): Promise<number> {
  const fault = findFault(file, context.cwd);
  if (fault === undefined) return check(file, context, { ...options, ...(param && { param }) });
  return reject({ exitCode: EXIT_CODE.rejected, message: `could not check ${file}: ${fault}` }, { context, options });
}

function findFault(file: string, cwd: string): string | undefined {
  try {
    const path = relative(realpathSync(cwd), realpathSync(resolve(cwd, file)));
    const isInside = path !== '' && !path.startsWith('..') && !isAbsolute(path);
    return isInside ? undefined : `it is not a file below ${cwd}`;
  } catch (error) {
    return (error as Error).message;
  }
}
