import type { RunRefusal } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { EXIT_CODE, type ExitCode } from './exit-code.ts';

/** Prints why a command stops and returns its exit code. With `--json` a line of JSON goes to stdout too. */
export function refuse(
  refusal: { readonly message: string; readonly exitCode: ExitCode },
  { context, options }: { context: CommandContext; options: Pick<GlobalOptions, 'json'> },
): ExitCode {
  if (options.json === true) context.terminal.out(`${JSON.stringify({ type: 'refused', ...refusal })}\n`);
  context.terminal.err(`${refusal.message}\n`);
  return refusal.exitCode;
}

/** A refusal of the runner with the exit code that belongs to it. */
export function fromRunner(refusal: RunRefusal): { message: string; exitCode: ExitCode } {
  const away = refusal.code === 'SERVICE_UNREACHABLE';
  const later = refusal.code === 'GROUP_BUSY' || refusal.code === 'RUN_IN_USE';
  const exitCode = away ? EXIT_CODE.unreachable : later ? EXIT_CODE.suspended : EXIT_CODE.refused;
  const advice = ADVICE[refusal.code];
  return { message: advice === undefined ? refusal.message : `${refusal.message}; ${advice}`, exitCode };
}

/** What this command line offers where the runner, which knows no command line, refuses. */
const ADVICE: Partial<Record<RunRefusal['code'], string>> = {
  SECRET_MISSING: 'set the variable SLUICE_SECRET_<NAME>, or write it into the file secrets/<NAME> of the home',
  RUN_FINISHED: 'sluice run FILE --reuse starts a new run that takes over what went well in it',
};
