import type { RunServer } from '../connect/run-server.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE, type ExitCode } from '../context/exit-code.ts';
import { fromRunRefusal, refuse } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import { renderValue } from '../json/render-value.ts';
import { plainLine } from '../text/plain-line.ts';
import { handOverRun } from './hand-over-run.ts';

/** Hands a run over to a server, and prints where it is, or why it is not there and what to do. */
export async function handToServer(
  { home, runId, server }: { readonly home: string; readonly runId: string; readonly server: RunServer },
  { context, options }: { readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<ExitCode> {
  const { profile } = options;
  const secrets = createSecretReader(home, context.env);
  const handed = await handOverRun({ home, runId, server, profile, secrets });
  if (handed.ok) {
    const url = plainLine(handed.value);
    if (options.json === true) context.terminal.out(renderValue('detached', { runId, url: url || server.url }));
    else {
      context.terminal.out(`run ${runId} continues on ${server.url}${url === '' ? '' : `: ${url}`}\n`);
      context.terminal.out(`follow it with: ${suggestCommand(['attach', runId], options)}\n`);
    }
    return EXIT_CODE.ok;
  }
  const { message, isHere, hasEnded, refusal } = handed.error;
  if (refusal !== undefined) return refuse(fromRunRefusal(refusal, { options, runId }), { context, options });
  if (hasEnded) return refuse({ exitCode: EXIT_CODE.refused, message }, { context, options });
  const resume = suggestCommand(['resume', runId], options);
  const advice = isHere
    ? `the run is suspended: continue it here with: ${resume}`
    : `it is unknown whether the server executes the run: repeat with: ${suggestCommand(['detach', runId], options)}, or take it back with: ${resume}`;
  const whole = `could not hand run ${runId} over to ${server.url}: ${message}; ${advice}`;
  return refuse({ exitCode: EXIT_CODE.suspended, message: whole }, { context, options });
}
