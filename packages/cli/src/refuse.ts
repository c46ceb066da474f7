import type { RunRefusal } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { EXIT_CODE, type ExitCode } from './exit-code.ts';
import { suggestCommand } from './suggest-command.ts';

/** Prints why a command stops and returns its exit code. With `--json` a line of JSON goes to stdout too. */
export function refuse(
  refusal: { readonly message: string; readonly exitCode: ExitCode },
  { context, options }: { context: CommandContext; options: Pick<GlobalOptions, 'json'> },
): ExitCode {
  if (options.json === true) context.terminal.out(`${JSON.stringify({ type: 'refused', ...refusal })}\n`);
  context.terminal.err(`${refusal.message}\n`);
  return refusal.exitCode;
}

/** What a suggested command is made of. */
interface Suggestion {
  readonly options: GlobalOptions;
  /** Of the run that was asked for. */
  readonly runId?: string;
  /** The command that starts the same run again with `--reuse`, where it is known. */
  readonly rerun?: string | undefined;
}

/** A refusal of the runner with the exit code that belongs to it. */
export function fromRunner(refusal: RunRefusal, suggestion: Suggestion): { message: string; exitCode: ExitCode } {
  const away = refusal.code === 'SERVICE_UNREACHABLE';
  const later = refusal.code === 'GROUP_BUSY' || refusal.code === 'RUN_IN_USE';
  const exitCode = away ? EXIT_CODE.unreachable : later ? EXIT_CODE.suspended : EXIT_CODE.refused;
  const advice = adviseOn(refusal, suggestion);
  return { message: advice === undefined ? refusal.message : `${refusal.message}; ${advice}`, exitCode };
}

/** What this command line offers where the runner, which knows no command line, refuses. */
function adviseOn({ code }: RunRefusal, { options, runId = 'RUN', rerun }: Suggestion): string | undefined {
  switch (code) {
    case 'SECRET_MISSING':
      return 'set the variable SLUICE_SECRET_<NAME>, or write it into the file secrets/<NAME> of the home';
    case 'RUN_FINISHED': {
      const again = rerun ?? suggestCommand(['run', 'FILE', '--reuse'], options);
      return `${again} starts a new run, which reuses every step that succeeded and has not changed`;
    }
    case 'RUN_KNOWN':
      return `resume it with: ${suggestCommand(['resume', runId], options)}`;
    default:
      return undefined;
  }
}
