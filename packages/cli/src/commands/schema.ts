import { describeUnknown } from '@sluice/core';
import type { CommandContext } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { listSchemas, readSchema } from '../json/schema-files.ts';

/** `sluice schema`: the JSON Schema of this name, as in the package; without a name, the list of the names. */
export async function schema(name: string | undefined, context: CommandContext): Promise<number> {
  const known = listSchemas();
  if (name !== undefined && !known.includes(name)) {
    const message = `there is no schema ${describeUnknown(name, known)}`;
    const rejection = { exitCode: EXIT_CODE.rejected, message, lines: ['list their names with: sluice schema'] };
    return reject(rejection, { context, options: {} });
  }
  context.terminal.out(name === undefined ? known.map((one) => `${one}\n`).join('') : readSchema(name));
  return EXIT_CODE.ok;
}
