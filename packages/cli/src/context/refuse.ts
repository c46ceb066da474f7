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

const EXIT_CODES: Partial<Record<RunRefusal['code'], ExitCode>> = {
  SERVICE_UNREACHABLE: EXIT_CODE.unreachable,
  LOGIN_REFUSED: EXIT_CODE.unreachable,
  GROUP_BUSY: EXIT_CODE.suspended,
  RUN_IN_USE: EXIT_CODE.suspended,
  JOURNAL_LOST: EXIT_CODE.suspended,
};

/** What to do where a service does not accept the login. */
export const LOGIN_ADVICE =
  'the token or password is wrong or expired: set SLUICE_TOKEN, or SLUICE_EMAIL and SLUICE_PASSWORD, or update the files named in the profile';

/** A refusal of the runner with the exit code that belongs to it. */
export function fromRunRefusal(refusal: RunRefusal, suggestion: Suggestion): { message: string; exitCode: ExitCode } {
  const exitCode = EXIT_CODES[refusal.code] ?? EXIT_CODE.refused;
  const advice = adviseOn(refusal, suggestion);
  return { message: advice === undefined ? refusal.message : `${refusal.message}; ${advice}`, exitCode };
}

/** What this command line offers where the runner, which knows no command line, refuses. */
function adviseOn({ code }: RunRefusal, { options, runId = 'RUN', rerun }: Suggestion): string | undefined {
  switch (code) {
    case 'SECRET_MISSING':
      return 'set the variable SLUICE_SECRET_<NAME>, or write the secret to the file secrets/<NAME> in the home';
    case 'RUN_FINISHED': {
      const again = rerun ?? suggestCommand(['run', 'FILE', '--reuse'], options);
      return `start a new run that reuses every successful, unchanged step with: ${again}`;
    }
    case 'LOGIN_REFUSED':
      return LOGIN_ADVICE;
    case 'JOURNAL_LOST':
      return `rebuild the run from its containers, with its original file and parameters: ${suggestCommand(['adopt', runId, 'FILE'], options)}`;
    case 'RUN_KNOWN':
      return `resume it with: ${suggestCommand(['resume', runId], options)}`;
    default:
      return undefined;
  }
}
