import { fail, ok, type Result } from '@sluice/core';
import { listRuns, type RunSummary } from '@sluice/runner';
import { EXIT_CODE } from './exit-code.ts';
import type { Refusal } from './refusal.ts';

/** The run whose ID begins with `prefix`; without one the newest that `accept` takes, of which `which` says what it asks for. */
export async function findRun(
  home: string,
  {
    prefix,
    accept = () => true,
    which = '',
  }: { prefix: string | undefined; accept?: (run: RunSummary) => boolean; which?: string },
): Promise<Result<RunSummary, Refusal>> {
  const runs = await listRuns(home);
  const refuse = (message: string) => fail({ exitCode: EXIT_CODE.refused, message });
  if (prefix === undefined) {
    const newest = runs.find(accept);
    if (newest !== undefined) return ok(newest);
    if (runs.length > 0) return refuse(`There is no run${which} in ${home}; sluice runs lists what is there`);
    return refuse(`There are no runs in ${home}; sluice run FILE starts one, and --home names another home`);
  }
  const fitting = runs.filter(({ runId }) => runId.startsWith(prefix));
  const exact = fitting.find(({ runId }) => runId === prefix) ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (exact !== undefined) return ok(exact);
  if (fitting.length === 0) return refuse(`Could not find run ${prefix} in ${home}; sluice runs lists what is there`);
  return refuse(`More than one run begins with ${prefix}: ${fitting.map(({ runId }) => runId).join(', ')}`);
}

/** What is to be said where a single word was taken for a step of the newest run, and is the name of a run. */
export async function describeMissingStep(home: string, { word, command }: { word: string; command: string }) {
  const found = await findRun(home, { prefix: word });
  return found.ok
    ? `${word} is a run; name one of its steps, too: sluice ${command} ${found.value.runId} STEP`
    : undefined;
}
