export type { Json } from '@sluice/core';
export {
  createRunApi,
  type RunApi,
  type RunApiInput,
  type RunApiOptions,
  type RunApiReply,
} from './run-api/create-run-api.ts';
export type {
  ApiAction,
  ApiCellStatus,
  ApiCounts,
  ApiFailure,
  ApiRun,
  ApiRunHead,
  ApiRunStatus,
  RunApiEvents,
  RunApiOperations,
} from './run-api/operations.ts';
export type { RunApiEvent } from './run-api/read-events.ts';
