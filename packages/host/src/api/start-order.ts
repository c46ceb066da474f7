import { writeValue } from '@sluice/core';
import { paramWords } from '@sluice/run';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { quoteCommand } from '../runs/describe-run.ts';
import type { actionReply } from '../schemas/actions.ts';
import type { ApiRequest } from './api-route.ts';
import type { RunApi, RunExecutor, StartRequest } from './run-api.ts';

/** Starts a run, or with `dryRun` says what it would do. `words`: the equivalent command, without its first word. */
export async function startOrder(
  { api, newRunId: runId }: Pick<ApiRequest, 'api' | 'newRunId'>,
  { order, dryRun, words }: { order: StartRequest; dryRun: boolean; words: readonly string[] },
): Promise<z.input<typeof actionReply>> {
  const executor = requireExecutor(api);
  const command = quoteCommand(['sluice', ...words]);
  const asked = { ...order, command };
  const preview = await executor.preview(asked, dryRun);
  if (!preview.ok) throw conflict(preview.error);
  const { reused, run, steps } = preview.value;
  const message = `runs ${run.length === 1 ? '1 step' : `${run.length} steps`}, and reuses the results of ${reused.length}`;
  const reusedMs = steps?.reduce((sum, step) => sum + step.reusedMs, 0);
  const reply = {
    ...{ dryRun, command, message, reused: [...reused], run: [...run] },
    ...(steps && { steps: [...steps] }),
    ...(reusedMs !== undefined && { reusedMs }),
  };
  if (dryRun) return reply;
  const started = await executor.start(asked, runId);
  if (!started.ok) throw conflict(started.error);
  return { runId, ...reply };
}

/** The options of a command that give parameters these values. */
export function valueWords({ params, paramsFile }: Pick<StartRequest, 'params' | 'paramsFile'>): readonly string[] {
  const texts = Object.entries(params).map(([name, value]) => [name, writeValue(value)] as const);
  return [...(paramsFile === undefined ? [] : ['--params-file', paramsFile]), ...paramWords(Object.fromEntries(texts))];
}

/** Throws `ApiError` if this server executes no runs. */
export function requireExecutor({ executor }: RunApi): RunExecutor {
  if (executor) return executor;
  throw new ApiError(409, 'NOT_EXECUTING', 'could not do this: this server shows runs, but executes none');
}

/** A request that the state of the home does not allow. */
export function conflict(message: string): ApiError {
  return new ApiError(409, 'REJECTED', message);
}
