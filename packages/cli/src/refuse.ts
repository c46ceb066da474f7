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
  return { message: refusal.message, exitCode };
}
