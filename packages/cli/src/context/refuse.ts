import type { RunRefusal } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { EXIT_CODE, type ExitCode } from './exit-code.ts';
import { suggestCommand } from './suggest-command.ts';

/** Prints why a command stops to stderr, with `--json` also as a line of JSON to stdout. Returns the exit code. */
export function refuse(
  refusal: { readonly message: string; readonly exitCode: ExitCode },
  { context, options }: { context: CommandContext; options: Pick<GlobalOptions, 'json'> },
): ExitCode {
  if (options.json === true) context.terminal.out(`${JSON.stringify({ type: 'refused', ...refusal })}\n`);
  context.terminal.err(`${refusal.message}\n`);
  return refusal.exitCode;
}

/** What suggested commands need. */
interface Suggestion {
  readonly options: GlobalOptions;
  /** The run that the user named; without it, advice contains the placeholder RUN. */
  readonly runId?: string;
  /** The command that starts the same run again with `--reuse`, if known. */
  readonly rerun?: string | undefined;
}

const EXIT_CODES: Partial<Record<RunRefusal['code'], ExitCode>> = {
  SERVICE_UNREACHABLE: EXIT_CODE.unreachable,
  LOGIN_REFUSED: EXIT_CODE.unreachable,
  GROUP_BUSY: EXIT_CODE.suspended,
  RUN_IN_USE: EXIT_CODE.suspended,
  JOURNAL_LOST: EXIT_CODE.suspended,
};

/** Advice for a service that rejects the login. */
export const LOGIN_ADVICE =
  'the token or password is wrong or expired: set SLUICE_TOKEN, or SLUICE_EMAIL and SLUICE_PASSWORD, or update the files named in the profile';

/** Converts a refusal of the runner: adds the exit code and advice in terms of the command line. */
export function fromRunRefusal(refusal: RunRefusal, suggestion: Suggestion): { message: string; exitCode: ExitCode } {
  const exitCode = EXIT_CODES[refusal.code] ?? EXIT_CODE.refused;
  const advice = adviseOn(refusal, suggestion);
  return { message: advice === undefined ? refusal.message : `${refusal.message}; ${advice}`, exitCode };
}

/** Advice in terms of the command line, which the runner does not know. */
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
