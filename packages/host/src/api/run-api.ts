import { setMaxListeners } from 'node:events';
import type { ContainerService } from '@sluice/client';
import type { Json, Result } from '@sluice/core';
import type { Executor, RunError, RunOrder } from '@sluice/run';
import type { StepsOfPreview } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import { type Feeds, openFeeds } from '../events/open-feeds.ts';
import { createLineIndex, type LineIndex } from '../runs/line-index.ts';
import { type LogSpool, openLogSpool } from '../runs/log-spool.ts';
import { type Followers, openFollowers } from '../runs/open-followers.ts';
import { openRunList, type RunList } from '../runs/run-list.ts';
import type { orderBody, RerunRequest } from '../schemas/order.ts';
import type { pipelineEntry } from '../schemas/pipeline-replies.ts';
import { createExclusion, type Exclusion } from './create-exclusion.ts';
import { type KeyStore, openKeyStore } from './key-store.ts';
import type { UnreadReplies } from './send-json.ts';
import type { Streams } from './start-stream.ts';

/** A run to start: an earlier one again, or a pipeline file of this machine. */
export interface StartRequest {
  /** `schedule`: with the options of the newest run of this schedule. */
  readonly origin: { readonly rerunOf: string } | { readonly file: string; readonly schedule?: string };
  /** Reuse successful, unchanged steps of the earlier run. */
  readonly reuse: boolean;
  /** `STEP` or `STEP/CELL`: what is run although it has not changed, with everything that depends on it. */
  readonly from: readonly string[];
  /** Parameters that replace those of the earlier run, or of the file. */
  readonly params: Readonly<Record<string, Json>>;
  /** A file of this machine with parameters, which `params` replaces. */
  readonly paramsFile?: string;
  /** The equivalent command line, for a user who must run it elsewhere. Absent: no user has requested this run. */
  readonly command?: string;
}

/** The names of the steps that a run would reuse as a whole, and of all others. */
export type OrderPreview = StepsOfPreview;

/** A pipeline file that can be run. */
export type PipelineEntry = z.input<typeof pipelineEntry>;

/** What needs pipeline files, profiles and secrets. Errors are sentences for the user. */
export interface RunExecutor {
  /** Executes a suspended run until it ends; resolves when it has begun. `cancelBy`: only to cancel it. */
  resume(runId: string, options?: { readonly cancelBy?: string }): Promise<Result<void, string>>;
  /** `isDryRun`: `start` does not follow, so everything that it would check is checked. */
  preview(request: StartRequest, isDryRun: boolean): Promise<Result<OrderPreview, string>>;
  /** What a command would be asked for that starts the same run. */
  createOrder(request: StartRequest): Promise<Result<RunOrder, string>>;
  /** Deletes a run that has ended. `false`: there is no such run; the error says why it must stay. */
  delete(runId: string): Promise<Result<boolean, string>>;
  /** The pipeline files of the project that contains the home. */
  listPipelines(): Promise<readonly PipelineEntry[]>;
  /** Starts a run with this ID. If there is one already, it does nothing: the request was repeated. */
  start(request: StartRequest, runId: string): Promise<Result<void, string>>;
}

/** Starts the runs of an account on a server. Every method throws `ApiError`, and may be repeated. */
export interface RunOrders {
  /** Plans the run of an order and executes it as a run with this ID. */
  order(runId: string, body: z.output<typeof orderBody>): Promise<void>;
  /** Executes the plan of an ended run again, as a run with this ID; the rejection says why that is not possible. */
  rerun(runId: string, request: RerunRequest): Promise<Result<void, RunError>>;
  /** Performs an action, and nothing else about the run meanwhile. */
  readonly exclude: Exclusion;
  /** The reply about a run that the server had, and has removed; undefined if it has not. */
  findRemoval(runId: string): Promise<ApiError | undefined>;
}

/** What the API of a home depends on. */
export interface RunApiOptions {
  readonly home: string;
  /** Opens the service that a run uses, for logs and files. The host closes it. Absent: logs and files are not served. */
  readonly openService?: (runId: string) => Promise<Result<ContainerService, string>>;
  /** Absent: runs can only be watched, canceled while they run, and approved. */
  readonly executor?: RunExecutor;
  /** Of a server. Absent: the runs of the home are only its own. */
  readonly orders?: RunOrders;
  /** What a process is called that hosts the runs of the home. Default: `ui`, or `host` if it is in the background. */
  readonly executorKind?: Executor;
  /** The URL of a run in the dashboard, if it is served. */
  readonly runUrl?: (runId: string) => string;
  /** The URL of the server for clients, if commands for its runs need it. */
  readonly serviceUrl?: string;
  /** The name that the journal records for actions. */
  readonly userName: string;
  /** The time by which old data is removed; milliseconds since the Unix epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** The state that all requests share. */
export interface RunApi extends RunApiOptions {
  readonly followers: Followers;
  readonly list: RunList;
  readonly feeds: Feeds;
  readonly logs: LogSpool;
  readonly lines: LineIndex;
  readonly streams: Streams;
  readonly downloads: Streams;
  readonly unread: UnreadReplies;
  readonly keys: KeyStore;
  /** Between the requests that start a run with the ID that is the key. */
  readonly exclude: Exclusion;
  /** Aborted when the server closes: ends all streams. */
  readonly closing: AbortSignal;
  /** Performs a change that `close` waits for. Throws `ApiError` from `close` on. */
  change<T>(action: () => Promise<T>): Promise<T>;
  /** Ends all streams, waits for the changes in progress, and removes temporary files. */
  close(): Promise<void>;
}

/** Reads nothing until the first request. */
export function openRunApi(options: RunApiOptions): RunApi {
  const followers = openFollowers(options.home);
  const list = openRunList(options.home, followers, options.executorKind);
  const logs = openLogSpool();
  const closing = new AbortController();
  const changes = new Set<Promise<unknown>>();
  // One for each stream.
  setMaxListeners(0, closing.signal);
  return {
    ...options,
    followers,
    list,
    logs,
    lines: createLineIndex(),
    keys: openKeyStore(options.home, options.now ?? Date.now),
    exclude: createExclusion(),
    streams: { open: 0 },
    downloads: { open: 0 },
    unread: { bytes: 0 },
    feeds: openFeeds(followers, list),
    closing: closing.signal,
    async change(action) {
      if (closing.signal.aborted) throw describeClosing();
      const done = action();
      changes.add(done);
      try {
        return await done;
      } finally {
        changes.delete(done);
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled([...changes]);
      await logs.close();
    },
  };
}

/** For a request to a server that is ending. The client may repeat it. */
export function describeClosing(): ApiError {
  return new ApiError(503, 'SERVER_CLOSING', 'could not serve the request: the server is ending; try again');
}

/** The service of a run. Throws `ApiError`. */
export async function serviceOf(api: RunApi, runId: string): Promise<ContainerService> {
  const opened = await api.openService?.(runId);
  if (opened?.ok) return opened.value;
  const why = opened?.error ?? 'this server has no access to its service';
  throw new ApiError(503, 'SERVICE_UNREACHABLE', `could not read the data of run ${runId}: ${why}`);
}
