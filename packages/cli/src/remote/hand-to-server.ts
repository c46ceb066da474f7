import { fail, ok, type Result } from '@sluice/core';
import type { RunServer } from '../connect/run-server.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { fromRunRefusal } from '../context/refuse.ts';
import { suggestCommand } from '../context/suggest-command.ts';
import { createSecretReader } from '../home/create-secret-reader.ts';
import type { HandedRun } from '../runs/handed-run.ts';
import { handOverRun } from './hand-over-run.ts';

/** Hands a run over to a server. The error says why it is not there and what to do. */
export async function handToServer(
  { home, runId, server }: { readonly home: string; readonly runId: string; readonly server: RunServer },
  { context, options }: { readonly context: CommandContext; readonly options: GlobalOptions },
): Promise<Result<HandedRun, CommandRefusal>> {
  const { profile } = options;
  const secrets = createSecretReader(home, context.env);
  const handed = await handOverRun({ home, runId, server, profile, secrets });
  if (handed.ok) {
    const page = handed.value;
    return ok({ runId, to: 'server', url: server.url, ...(page !== '' && { page }) });
  }
  const { message, isHere, hasEnded, refusal } = handed.error;
  if (refusal !== undefined) return fail(fromRunRefusal(refusal, { options, runId }));
  if (hasEnded) return fail({ exitCode: EXIT_CODE.refused, message });
  const resume = suggestCommand(['resume', runId], options);
  const advice = isHere
    ? `the run is suspended: continue it here with: ${resume}`
    : `it is unknown whether the server executes the run: repeat with: ${suggestCommand(['detach', runId], options)}, or take it back with: ${resume}`;
  const whole = `could not hand run ${runId} over to ${server.url}: ${message}; ${advice}`;
  return fail({ exitCode: EXIT_CODE.suspended, message: whole });
}
