import { isDeepStrictEqual } from 'node:util';
import { readRun, readRunOrder } from '@sluice/home';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { homeOrderBody } from '../schemas/order.ts';
import type { RunApi } from './run-api.ts';
import { conflict, requireExecutor } from './start-order.ts';

/**
 * Starts the run of an order under the ID that its client has chosen. The first record of a run contains its order, so that a
 * repeated request is recognized after a crash, too: it only lets the run continue that an interrupted request has recorded.
 */
export async function startHomeOrder(
  api: RunApi,
  runId: string,
  order: z.output<typeof homeOrderBody>['order'],
): Promise<void> {
  const executor = requireExecutor(api);
  const request = { origin: { file: order.file }, reuse: false, from: [], params: order.params };
  if (!(await isRecorded(api.home, runId, order))) {
    const previewed = await executor.preview(request, false);
    if (!previewed.ok) throw new ApiError(400, 'RUN_INVALID', `could not start run ${runId}: ${previewed.error}`);
  }
  const started = await executor.start(request, runId);
  if (!started.ok) throw conflict(`could not start run ${runId}: ${started.error}`);
}

/** Whether the same order has begun this run before. Throws if another one has. */
async function isRecorded(
  home: string,
  runId: string,
  order: z.output<typeof homeOrderBody>['order'],
): Promise<boolean> {
  const recorded = await readRunOrder(home, runId);
  if (recorded === undefined && !(await readRun(home, runId)).ok) return false;
  const { file, params } = recorded ?? {};
  if (isDeepStrictEqual({ file, params }, { file: order.file, params: order.params })) return true;
  throw new ApiError(
    409,
    'RUN_EXISTS',
    `could not start run ${runId}: this home has a run with this ID and another order; choose another ID`,
  );
}
