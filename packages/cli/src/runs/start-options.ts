import { limitParallelism } from '@sluice/core';
import type { StartRunOptions } from '@sluice/runner';
import type { HomeService } from '../connect/open-service.ts';
import type { ServiceContext } from '../context/command-context.ts';
import { createOrder } from './create-order.ts';
import type { PreparedRun, RunRequest } from './prepare-run.ts';

/** What is ordered, by a command or by a program. */
export type Ordered = Omit<RunRequest, 'context'> & { readonly context: ServiceContext };

/** What the runner needs to start a prepared run, without a reporter. */
export async function startOptions(
  { loaded: { plan, baseDir, given }, reuse }: PreparedRun,
  { service, scope, home, limits, traces, engine }: HomeService,
  { file, context, options }: Ordered,
): Promise<StartRunOptions> {
  const { createSecretReader } = await import('../home/create-secret-reader.ts');
  return {
    ...{ service, scope, home, baseDir },
    plan: limitParallelism(plan, options.parallelism),
    secrets: createSecretReader(home, context.env),
    leavesForPeople: options.stopAtApproval === true,
    ...(limits && { limits }),
    ...(traces && { traces }),
    ...(reuse && { reuse }),
    ...(options.publishBelow !== undefined && { publishBelow: options.publishBelow }),
    ...(options.runId !== undefined && { runId: options.runId }),
    // Chosen by where the command was started: later commands about the run may be started elsewhere.
    order: createOrder(file, {
      params: given,
      context,
      options: { ...options, ...(engine === 'slurm-job' && { engine }) },
    }),
  };
}
