import { isDeepStrictEqual } from 'node:util';
import { listRuns, readRunOrder } from '@sluice/home';
import type { RunOrder, RunSummary } from '@sluice/run';
import { findHome } from '../home/home.ts';
import { createOrder } from '../runs/create-order.ts';
import type { JobHandover } from '../runs/job-handover.ts';
import type { PreparedRun, RunRequest } from '../runs/prepare-run.ts';
import { attach } from './attach.ts';
import { continueRun, type ResumeOptions } from './resume.ts';

/**
 * Continues the run that this command has started in an earlier start of its job, and resolves to its exit code; of one that
 * has ended, shows the end. Undefined if there is none: the job ended before the run was recorded.
 */
export async function continueRunOfJob(
  { loaded: { given } }: PreparedRun,
  {
    file,
    context,
    options,
    handover,
  }: RunRequest & { readonly options: ResumeOptions; readonly handover: JobHandover },
): Promise<number | undefined> {
  const order = createOrder(file, { params: given, context, options });
  const found = await findRun(findHome(context, options), order);
  if (found === undefined) return undefined;
  if (found.status !== 'suspended') return attach(found.runId, context, options);
  return continueRun(found.runId, context, { ...options, handover });
}

/** The newest run with this order. The label of the job is a part of it. */
async function findRun(home: string, wanted: RunOrder): Promise<RunSummary | undefined> {
  for (const run of await listRuns(home)) {
    const order = await readRunOrder(home, run.runId);
    if (order !== undefined && isDeepStrictEqual(withoutEngine(order), withoutEngine(wanted))) return run;
  }
  return undefined;
}

/** It is recorded where the command has named none. */
function withoutEngine({ engine: _, ...order }: RunOrder): Omit<RunOrder, 'engine'> {
  return order;
}
