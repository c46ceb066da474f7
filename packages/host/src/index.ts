export { addRunApi } from './api/add-run-api.ts';
export { describeRunApi } from './api/describe-run-api.ts';
export { API_PREFIX } from './api/openapi.ts';
export {
  type OrderPreview,
  openRunApi,
  type PipelineEntry,
  type RunApi,
  type RunApiOptions,
  type RunExecutor,
  type StartRequest,
} from './api/run-api.ts';
export { type AskHostOptions, askHost, type HostReplyWait } from './control/ask-host.ts';
export type { HostStatus } from './control/host-request.ts';
export { readExecutors } from './control/read-executors.ts';
export { type HostedService, type OpenHostedService, shareServices } from './execute/hosted-service.ts';
export { openRunHost, type RunHost, type RunHostOptions } from './execute/open-run-host.ts';
export type { AccountLimits } from './hosted/account-limits.ts';
export { addHostedApi, type HostedApiOptions } from './hosted/add-hosted-api.ts';
export { addHostedPages, type HostedPagesOptions } from './hosted/add-hosted-pages.ts';
export { type HostedAccounts, openHostedAccounts } from './hosted/open-hosted-accounts.ts';
export { createRestrictedNotifier } from './hosted/restricted-notifier.ts';
export { createWebhookRules, findWebhookFault } from './hosted/webhook-rules.ts';
export { addMetrics } from './listener/add-metrics.ts';
export { isLoopback, type Listener, type ListenerOptions, openListener } from './listener/open-listener.ts';
export { readStaticFiles, type StaticFile } from './listener/static-files.ts';
export { createHostMetrics, type HostMetrics } from './metrics/host-metrics.ts';
export { type MeasuredCall, measureCalls } from './metrics/measure-calls.ts';

import type { cellStatus, fileHistory, runEntry, runPhase } from '@sluice/run';
import type { z } from 'zod';
import type { ACTION_BODIES, actionReply, submitBody } from './schemas/actions.ts';
import type {
  cellDetails,
  cellEntry,
  cellList,
  cellMatches,
  cellNames,
  fileDifferences,
  fileList,
  gridPage,
  logLine,
  stepDifferences,
} from './schemas/cell-replies.ts';
import type { clusterList } from './schemas/cluster-replies.ts';
import type { orderReply } from './schemas/order.ts';
import type { pipelineList } from './schemas/pipeline-replies.ts';
import type { approvalList, cellChange, changeList, runDetails, runList, runStates } from './schemas/run-replies.ts';
import type { plannedTimeList, scheduleList } from './schemas/schedules.ts';

export { openSecrets, sealSecrets } from './hosted/seal-secrets.ts';
export type { DataPort } from './runs/data-port.ts';
export type { ActionName } from './schemas/actions.ts';
export type { StreamEventName, StreamEvents } from './schemas/events.ts';
export { MAX_ORDER_BYTES, type OrderBody } from './schemas/order.ts';

/** The status of a run in replies. */
export type RunStatusWord = z.input<typeof runPhase>;
/** The status of a step or cell in replies. */
export type CellStatusWord = z.input<typeof cellStatus>;
/** An entry of `RunList`. */
export type RunEntry = z.input<typeof runEntry>;
/** The reply of `GET /runs`. */
export type RunList = z.input<typeof runList>;
/** The reply of `GET /runs/{runId}`. */
export type RunDetails = z.input<typeof runDetails>;
/** The reply of `GET /runs/{runId}/approvals`. */
export type ApprovalList = z.input<typeof approvalList>;
/** The reply of `GET /runs/{runId}/states`. */
export type RunStates = z.input<typeof runStates>;
/** One change of a cell: position, time in milliseconds, step, cell, status, attempt, reused. */
export type CellChange = z.input<typeof cellChange>;
/** The reply of `GET /runs/{runId}/changes`. */
export type ChangeList = z.input<typeof changeList>;
/** An entry of `CellList`. */
export type CellEntry = z.input<typeof cellEntry>;
/** The reply of `GET /runs/{runId}/cells`. */
export type CellList = z.input<typeof cellList>;
/** The reply of `GET /runs/{runId}/grid`. */
export type GridPage = z.input<typeof gridPage>;
/** The reply of `GET /runs/{runId}/cell-names`. */
export type CellNames = z.input<typeof cellNames>;
/** The reply of `GET /runs/{runId}/cell-matches`. */
export type CellMatches = z.input<typeof cellMatches>;
/** The reply of `GET /runs/{runId}/cell`. */
export type CellDetails = z.input<typeof cellDetails>;
/** The reply of `GET /runs/{runId}/log-line`. */
export type LogLine = z.input<typeof logLine>;
/** The reply of `GET /runs/{runId}/files` for a directory. */
export type FileList = z.input<typeof fileList>;
/** The reply of `GET /runs/{runId}/history`. */
export type FileHistory = z.input<typeof fileHistory>;
/** The bodies of actions, by the action's name. */
export type ActionBodies = { [N in keyof typeof ACTION_BODIES]: z.input<(typeof ACTION_BODIES)[N]> };
/** The body of `POST /runs`. */
export type SubmitBody = z.input<typeof submitBody>;
/** The reply of every action. */
export type ActionReply = z.input<typeof actionReply>;
/** The reply of `GET /schedules`. */
export type ScheduleList = z.input<typeof scheduleList>;
/** The reply of `GET /schedules/{name}/times`. */
export type PlannedTimeList = z.input<typeof plannedTimeList>;
/** The reply of `GET /runs/{runId}/differences`. */
export type FileDifferences = z.input<typeof fileDifferences>;
/** The reply of `GET /runs/{runId}/step-differences`. */
export type StepDifferences = z.input<typeof stepDifferences>;
/** The reply of `GET /clusters`. */
export type ClusterList = z.input<typeof clusterList>;
/** The reply of `GET /pipelines`. */
export type PipelineList = z.input<typeof pipelineList>;
/** The reply of `PUT /runs/{runId}` on a server. */
export type OrderReply = z.input<typeof orderReply>;
