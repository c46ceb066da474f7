import type { RunError } from '@sluice/run';
import { renderValue } from '../json/render-value.ts';
import { plainLine } from '../text/plain-line.ts';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { type CommandError, wholeMessage } from './command-rejection.ts';
import { EXIT_CODE, type ExitCode } from './exit-code.ts';
import { suggestCommand } from './suggest-command.ts';

/** Prints why a command stops to stderr, with `--json` also as a line of JSON to stdout. Returns the exit code. */
export function reject(
  rejection: CommandError,
  { context, options }: { context: CommandContext; options: Pick<GlobalOptions, 'json'> },
): ExitCode {
  if (options.json === true) context.terminal.out(renderError(rejection));
  const { message, lines = [] } = rejection;
  context.terminal.err(...[message, ...lines].map(plainLine));
  return rejection.exitCode;
}

/** The code of errors that have none of their own. */
const CODES: Readonly<Record<ExitCode, string>> = {
  [EXIT_CODE.ok]: 'OK',
  [EXIT_CODE.runFailed]: 'FAILED',
  [EXIT_CODE.rejected]: 'REJECTED',
  [EXIT_CODE.unreachable]: 'SERVICE_UNREACHABLE',
  [EXIT_CODE.busy]: 'GROUP_BUSY',
  [EXIT_CODE.suspended]: 'SUSPENDED',
  [EXIT_CODE.interrupted]: 'INTERRUPTED',
};

/** Why a command stops, as a line of JSON. */
export function renderError(rejection: CommandError): string {
  const { exitCode, code = CODES[exitCode] } = rejection;
  return renderValue('error', { code, message: wholeMessage(rejection) });
}

/** What suggested commands need. */
interface Suggestion {
  readonly options: GlobalOptions;
  /** The run that the user named; advice about a run needs it. */
  readonly runId?: string;
  /** What to do if the service rejects the login. */
  readonly loginAdvice?: string | undefined;
}

const EXIT_CODES: Partial<Record<RunError['code'], ExitCode>> = {
  SERVICE_UNREACHABLE: EXIT_CODE.unreachable,
  LOGIN_REJECTED: EXIT_CODE.unreachable,
  GROUP_BUSY: EXIT_CODE.busy,
  RUN_IN_USE: EXIT_CODE.suspended,
  RUN_HOSTED: EXIT_CODE.suspended,
  JOURNAL_LOST: EXIT_CODE.suspended,
};

/** Converts a rejection of the runner: adds the exit code and advice in terms of the command line. */
export function fromRunError(rejection: RunError, suggestion: Suggestion): CommandError {
  const exitCode = EXIT_CODES[rejection.code] ?? EXIT_CODE.rejected;
  return withAdvice({ message: rejection.message, exitCode, code: rejection.code }, adviseOn(rejection, suggestion));
}

/** Appends advice to the message of a rejection. */
export function withAdvice<R extends Pick<CommandError, 'message' | 'lines'>>(
  rejection: R,
  advice: string | undefined,
): R {
  if (advice === undefined) return rejection;
  const { message, lines = [] } = rejection;
  const last = lines.at(-1);
  if (last === undefined) return { ...rejection, message: `${message}; ${advice}` };
  return { ...rejection, lines: [...lines.slice(0, -1), `${last}; ${advice}`] };
}

/** Advice in terms of the command line, which the runner does not know. */
function adviseOn({ code }: RunError, { options, runId, loginAdvice }: Suggestion): string | undefined {
  const suggest = (...words: string[]) => suggestCommand(words, options);
  switch (code) {
    case 'SECRET_MISSING':
      return 'set the variable SLUICE_SECRET_<NAME>, or write the secret to the file secrets/<NAME> in the home';
    case 'RUN_FINISHED':
      return runId && `start a new run that reuses every successful, unchanged step with: ${suggest('rerun', runId)}`;
    case 'RUN_HOSTED':
      return runId && `follow it with: ${suggest('attach', runId)}`;
    case 'LOGIN_REJECTED':
      return loginAdvice;
    case 'JOURNAL_LOST':
      return runId && adviseAdoption(runId, options);
    case 'RUN_KNOWN':
      return runId && `resume it with: ${suggest('resume', runId)}`;
    default:
      return undefined;
  }
}

/** Advice for a run whose journal is lost. Only the user knows its file. */
export function adviseAdoption(runId: string, options: GlobalOptions): string {
  return `rebuild the run from its containers with: ${suggestCommand(['adopt', runId], options)} (add its file, if that is not pipeline.yaml, and its parameters)`;
}
