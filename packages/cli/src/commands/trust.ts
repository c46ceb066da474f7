import { existsSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';
import { keepConfirmation } from '../home/confirmation.ts';
import { homeProfile } from '../home/find-profile.ts';
import { findHome } from '../home/home.ts';
import { type Connection, connectionOf, readProfile } from '../home/profile.ts';
import { renderValue } from '../json/render-value.ts';
import { renderTable } from '../text/render-table.ts';

/** `sluice trust`: confirms the home of this directory and its profile in their current state. */
export async function trust(context: CommandContext, options: GlobalOptions): Promise<number> {
  const { profile: _, ...global } = options;
  const home = findHome(context, global);
  const read = readConnection(home, context);
  if (!read.ok) return reject(read.error, { context, options });
  const connection = read.value;
  const file = await keep(home, { connection, context });
  if (!file.ok) return reject(file.error, { context, options });
  if (options.json === true) {
    context.terminal.out(renderValue('trust', { home, connection, file: file.value }));
    return EXIT_CODE.ok;
  }
  const rows = Object.entries(connection).map(([key, value]) => [key, JSON.stringify(value).slice(1, -1)]);
  context.terminal.out(renderTable([['home', home], ...rows]));
  context.terminal.out(`saved the confirmation in ${file.value}; remove that file to undo it\n`);
  return EXIT_CODE.ok;
}

function readConnection(home: string, context: CommandContext): Result<Connection, CommandError> {
  if (!existsSync(home)) {
    const message = `could not confirm a home: neither ${context.cwd} nor a directory above it contains a .sluice`;
    return fail({ exitCode: EXIT_CODE.rejected, message });
  }
  const path = homeProfile(home);
  if (!existsSync(path)) return ok({});
  const profile = readProfile(path);
  return profile.ok ? ok(connectionOf(profile.value)) : profile;
}

async function keep(
  home: string,
  { connection, context }: { connection: Connection; context: CommandContext },
): Promise<Result<string, CommandError>> {
  const rejectFor = (reason: string) =>
    fail({ exitCode: EXIT_CODE.rejected, message: `could not save the confirmation of ${home}: ${reason}` });
  try {
    const file = await keepConfirmation({ home, connection }, context.env);
    return file === undefined ? rejectFor('the user has no state directory; set HOME or XDG_STATE_HOME') : ok(file);
  } catch (error) {
    return rejectFor(describeSystemError(error));
  }
}
