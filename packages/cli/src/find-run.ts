import { fail, ok, type Result } from '@sluice/core';
import { listRuns, type RunSummary } from '@sluice/runner';
import { EXIT_CODE } from './exit-code.ts';
import type { Refusal } from './refusal.ts';

/** The run whose ID begins with `prefix`; without one the newest that `accept` takes. */
export async function findRun(
  home: string,
  { prefix, accept = () => true }: { prefix: string | undefined; accept?: (run: RunSummary) => boolean },
): Promise<Result<RunSummary, Refusal>> {
  const runs = await listRuns(home);
  const refuse = (message: string) => fail({ exitCode: EXIT_CODE.refused, message });
  if (prefix === undefined) {
    const newest = runs.find(accept);
    return newest === undefined ? refuse(`There is no such run in ${home}`) : ok(newest);
  }
  const fitting = runs.filter(({ runId }) => runId.startsWith(prefix));
  const exact = fitting.find(({ runId }) => runId === prefix) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (exact !== undefined) return ok(exact);
  if (fitting.length === 0) return refuse(`Could not find run ${prefix} in ${home}; sluice runs lists what is there`);
  return refuse(`More than one run begins with ${prefix}: ${fitting.map(({ runId }) => runId).join(', ')}`);
}
