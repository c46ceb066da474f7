import { lstatSync, type Stats, statSync } from 'node:fs';
import { fail, ok, type Result } from '@sluice/core';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { type Caller, findCaller, isOwnedBy } from './caller.ts';
import { readConfirmation } from './confirmation.ts';
import { isEmptyOrCreatedHere } from './created-here.ts';
import { findHome, isHomeNamed } from './home.ts';

/**
 * Rejects a home that was only found, not named, if another user or a repository may have created it: its contents
 * decide which programs run and where credentials are sent.
 */
export function checkHome(
  context: Pick<CommandContext, 'env' | 'cwd'>,
  options: Pick<GlobalOptions, 'home'>,
): Result<undefined, CommandError> {
  if (isHomeNamed(context, options)) return ok(undefined);
  const home = findHome(context, options);
  const fault = findHomeFault(home, context.env);
  if (fault === undefined || readConfirmation(home, context.env) !== undefined) return ok(undefined);
  const advice =
    'if you trust its contents, confirm it once with: sluice trust; otherwise name another home with --home';
  return fail({ exitCode: EXIT_CODE.rejected, message: `could not use ${home} as the home: ${fault}; ${advice}` });
}

function findHomeFault(home: string, env: NodeJS.ProcessEnv): string | undefined {
  const entry = lstatSync(home, { throwIfNoEntry: false });
  const target = statSync(home, { throwIfNoEntry: false });
  // A home that is not a directory, or not accessible, is reported when it is opened.
  if (entry === undefined || target === undefined || !target.isDirectory()) return undefined;
  return describeUnsafeOwner({ entry, target }, findCaller(env)) ?? describeCopiedState(home);
}

/**
 * Why another user may control the contents of a directory; undefined if none can. `entry` is the path itself, `target`
 * what it links to.
 */
export function describeUnsafeOwner(
  { entry, target }: { entry: Pick<Stats, 'uid' | 'isSymbolicLink'>; target: Pick<Stats, 'uid' | 'mode'> },
  caller: Caller | undefined,
): string | undefined {
  if (caller === undefined) return undefined;
  for (const { uid } of [entry, target]) {
    if (!isOwnedBy(caller, uid)) return `it belongs to ${describeUser(uid)} and you are ${describeUser(caller.uid)}`;
  }
  if (entry.isSymbolicLink()) return 'it is a symbolic link and may come from a repository';
  if ((target.mode & 0o022) === 0) return undefined;
  return `other users can write to it (mode ${(target.mode & 0o777).toString(8)}); remove that permission with: chmod go-w`;
}

function describeCopiedState(home: string): string | undefined {
  try {
    if (isEmptyOrCreatedHere(home)) return undefined;
  } catch {
    return undefined;
  }
  return 'it contains runs or a service, and this version of Sluice did not create it here: it was copied, or came with a repository or an archive';
}

function describeUser(uid: number): string {
  return uid === 0 ? 'root' : `user ${uid}`;
}
