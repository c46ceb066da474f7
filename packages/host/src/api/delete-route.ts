import { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { deletionReply } from '../schemas/actions.ts';
import { defineRoute } from './api-route.ts';
import { requireRunId } from './order-routes.ts';
import { requireExecutor } from './start-order.ts';

/** The endpoint that deletes a run. */
export const DELETE_ROUTE = defineRoute({
  operationId: 'deleteRun',
  summary: 'Delete an ended run that no other run reuses; repeating the request has no effect',
  ...{ method: 'DELETE', path: '/runs/{runId}' },
  query: z.strictObject({}),
  reply: deletionReply,
  async handle({ api, at }) {
    const runId = requireRunId(at);
    const deleted = await requireExecutor(api).delete(runId);
    if (!deleted.ok) throw new ApiError(409, 'RUN_KEPT', `could not delete run ${runId}: ${deleted.error}`);
    if (deleted.value) api.followers.drop(runId);
    return { runId, deleted: deleted.value };
  },
});
