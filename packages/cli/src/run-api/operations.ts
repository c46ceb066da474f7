// Written by scripts/run-api-types.mjs from the OpenAPI document of the run API.
import type { Json } from '@sluice/core';

/** The component `Action` of the OpenAPI document. */
export type ApiAction = {
  /** The run that the action concerns; of a rerun or submission, the new run. */
  readonly runId?: string;
  readonly dryRun: boolean;
  /** The equivalent command line. */
  readonly command: string;
  /** What happens, in one sentence. */
  readonly message: string;
  /** Steps whose earlier results are reused; absent if unknown. */
  readonly reused?: readonly string[];
  /** Steps that are run; absent if unknown. */
  readonly run?: readonly string[];
  /** Of a rerun that reuses results: what happens to the cells of each step, in the order of the file. */
  readonly steps?: readonly {
    readonly step: string;
    /** The number of cells; absent if it is known only during the run. */
    readonly cells?: number;
    /** The number of cells whose results are reused. */
    readonly reused: number;
    /** The number of cells that are skipped. */
    readonly skipped: number;
    /** Why the others are run; empty if there are none. */
    readonly reason: string;
    /** How long the reused cells ran when they were executed: the sum. */
    readonly reusedMs: number;
    /** The number of reused cells of which no duration is recorded. */
    readonly unmeasured: number;
  }[];
  /** The sum of `reusedMs` of the steps: an estimate of the work that is saved, not of the time. */
  readonly reusedMs?: number;
  /** Of a backfill: the planned times that are run. */
  readonly plannedAt?: readonly string[];
};

/** The component `Run` of the OpenAPI document. */
export type ApiRun = {
  readonly runId: string;
  readonly pipeline: string;
  /** Those of the pipeline, and those that the command added; absent if there are none. */
  readonly labels?: { readonly [key: string]: string };
  /** `waiting`: a process will execute it when its concurrency group has capacity; `suspended`: no process executes it, and it can be resumed. */
  readonly status: ApiRunStatus;
  /** When it was recorded, before it waits for its concurrency group or for a process. */
  readonly createdAt: string;
  /** When its first step could start; absent before. */
  readonly startedAt?: string;
  /** RFC 3339 in UTC, with milliseconds. */
  readonly endedAt?: string;
  /** The process that executes the run, or waits for its group: `terminal`, a command or a program; `host`, the background process of the home; `ui`, `sluice ui`; `server`, a server; `none`. */
  readonly executor: 'terminal' | 'host' | 'ui' | 'server' | 'none';
  /** Absent for a run that has ended elsewhere, or whose files could not be read. */
  readonly counts?: { readonly [key: string]: number };
  readonly waitsForApproval?: true;
  /** Why the files of the run could not be read; the other values are then defaults. */
  readonly problem?: string;
};

/** The component `RunHead` of the OpenAPI document. */
export type ApiRunHead = {
  /** `waiting`: a process will execute it when its concurrency group has capacity; `suspended`: no process executes it, and it can be resumed. */
  readonly status: ApiRunStatus;
  readonly counts: ApiCounts;
};

/** The component `RunStatus` of the OpenAPI document. */
export type ApiRunStatus = 'waiting' | 'running' | 'suspended' | 'succeeded' | 'failed' | 'canceled';

/** The component `CellStatus` of the OpenAPI document. */
export type ApiCellStatus =
  | 'waiting'
  | 'ready'
  | 'awaitingApproval'
  | 'submitting'
  | 'pending'
  | 'running'
  | 'publishing'
  | 'succeeded'
  | 'failed'
  | 'skipped'
  | 'canceled';

/** The component `Counts` of the OpenAPI document. */
export type ApiCounts = { readonly [key: string]: number };

/** The component `Failure` of the OpenAPI document. */
export type ApiFailure = {
  readonly step: string;
  /** Empty for a plain step. */
  readonly cell: string;
  /** The keys of its items, by axis; absent if the step has no `each`. */
  readonly axes?: { readonly [key: string]: string };
  /** The values of its matrix; absent if the step has none. */
  readonly matrix?: { readonly [key: string]: Json };
  /** Of a cell of `foreach`. */
  readonly item?: Json;
  readonly attempt: number;
  readonly status: 'failed' | 'canceled';
  /** Why it has failed; present exactly if the status is `failed`. */
  readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
  readonly exitCode?: number;
  readonly message: string;
  readonly containerId?: string;
  /** What the user can do. */
  readonly hint?: string;
  /** The last lines of the log; empty if it could not be read. */
  readonly logTail: readonly string[];
};

/** What each operation of the run API takes and returns, by its name in the OpenAPI document. */
export interface RunApiOperations {
  /** The runs of the home, newest first. */
  readonly listRuns: {
    readonly path: Record<never, never>;
    readonly query: {
      /** Of several, any. */
      readonly status?: ApiRunStatus | readonly ApiRunStatus[];
      readonly pipeline?: string;
      /** `NAME=VALUE` or `NAME`; of several, all. */
      readonly label?: string | readonly string[];
      readonly createdAfter?: string;
      readonly createdBefore?: string;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly runs: readonly ApiRun[];
      readonly nextPageToken?: string;
    };
  };
  /** Run a pipeline file of this machine. */
  readonly submitRun: {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
      /** Absolute path of a pipeline file on the machine of the server. */
      readonly file: string;
      readonly params?: { readonly [key: string]: Json };
      /** A YAML or JSON file below the project of the home, with values of parameters; `params` replaces them. */
      readonly paramsFile?: string;
    };
    readonly reply: ApiAction;
  };
  /** A run with its plan and steps. */
  readonly getRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: {
      readonly runId: string;
      readonly pipeline: string;
      readonly labels: { readonly [key: string]: string };
      /** `waiting`: a process will execute it when its concurrency group has capacity; `suspended`: no process executes it, and it can be resumed. */
      readonly status: ApiRunStatus;
      /** When it was recorded, before it waits for its concurrency group or for a process. */
      readonly createdAt: string;
      /** When its first step could start; absent before. */
      readonly startedAt?: string;
      /** RFC 3339 in UTC, with milliseconds. */
      readonly endedAt?: string;
      readonly description?: string;
      readonly message?: string;
      readonly clusterId: string;
      readonly accountId: string;
      readonly params: { readonly [key: string]: Json };
      readonly results?: { readonly [key: string]: Json };
      readonly outputs: {
        readonly [key: string]: {
          readonly step: string;
          readonly output: string;
          /** One for each cell, in their order; for a reused cell, it belongs to an earlier run. */
          readonly locations: readonly {
            /** Empty for a plain step. */
            readonly cell: string;
            readonly clusterId: string;
            readonly accountId: string;
            readonly volumeId: string;
            /** Inside the volume. */
            readonly path: string;
          }[];
          /** A directory or file in the output; absent: all of it. */
          readonly path?: string;
          /** Absolute local directory with the copy for `publish`. */
          readonly publishedTo?: string;
          /** Why the copy for `publish` could not be made. */
          readonly notPublished?: string;
        };
      };
      readonly warnings: readonly {
        /** RFC 3339 in UTC, with milliseconds. */
        readonly at: string;
        readonly message: string;
        /** How the service answers requests about containers. */
        readonly concerns?: 'service';
      }[];
      /** The first 100 failed and canceled attempts in the order in which they ended, also those tried again. */
      readonly failures: readonly ApiFailure[];
      readonly failureCount: number;
      /** Why cells have failed in the end, of the 10,000 that failed last; the first 20. */
      readonly failureGroups: readonly {
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        /** The keys of its items, by axis; absent if the step has no `each`. */
        readonly axes?: { readonly [key: string]: string };
        /** The values of its matrix; absent if the step has none. */
        readonly matrix?: { readonly [key: string]: Json };
        /** Of a cell of `foreach`. */
        readonly item?: Json;
        readonly attempt: number;
        readonly status: 'failed' | 'canceled';
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        readonly exitCode?: number;
        readonly message: string;
        readonly containerId?: string;
        /** What the user can do. */
        readonly hint?: string;
        /** The last lines of the log; empty if it could not be read. */
        readonly logTail: readonly string[];
        readonly cellCount: number;
        /** The first 20. */
        readonly cells: readonly {
          /** Empty for a plain step. */
          readonly cell: string;
          readonly cellIndex: number;
        }[];
      }[];
      readonly failureGroupCount: number;
      readonly failedCellCount: number;
      /** What was skipped because of these failures; the first 100. */
      readonly skippedSteps: readonly {
        readonly step: string;
        readonly cellCount: number;
        /** Why the first one was skipped. */
        readonly message: string;
      }[];
      /** A command line that starts the same run again. */
      readonly command?: string;
      readonly plan: {
        readonly steps: readonly {
          readonly step: string;
          readonly description?: string;
          readonly kind: 'container' | 'service' | 'approval';
          /** Indexes of steps. */
          readonly dependencies: readonly number[];
          /** Its axes; absent if it has none. */
          readonly each?: readonly string[];
          /** Column in the graph: the distance from the start. */
          readonly level: number;
          /** A step of `finally`. */
          readonly final: boolean;
          /** The step with `uses` that has added it; absent if it is in the main file. */
          readonly group?: string;
          /** Null while the cells of a `foreach` are unknown. */
          readonly cells: number | null;
          /** With its expressions evaluated as far as possible; the first of several. */
          readonly image?: string;
          readonly instanceType?: string;
          readonly resources?: { readonly [key: string]: unknown };
        }[];
      };
      /** In the order of `plan.steps`. */
      readonly steps: readonly {
        readonly status: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        readonly counts: ApiCounts;
        /** When its first cell began to run. */
        readonly beganAt?: string;
        /** When its last cell ended; absent while one runs. */
        readonly endedAt?: string;
      }[];
      readonly criticalPath: readonly {
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        /** When it could have started. */
        readonly readyAt: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly endedAt: string;
        /** The time in between without a running container. */
        readonly waitedMs: number;
      }[];
      /** Absent before its first step could start. */
      readonly timeSpent?: {
        /** From `startedAt` to the end; of a run that has not ended, until now. */
        readonly totalMs: number;
        /** Containers on the critical path ran. */
        readonly computingMs: number;
        /** Their requests waited in the engine, which also pulled their images. */
        readonly queuedMs: number;
        /** They waited for a limit, a pool or a quota. */
        readonly capacityMs: number;
        /** They waited for a person. */
        readonly approvalMs: number;
        /** Attempts that were tried again, and the pauses after them. */
        readonly retriesMs: number;
        /** Outputs were published, and files were copied between clusters and to directories. */
        readonly transferMs: number;
        /** No process executed the run, and none of these containers is known to have run or waited in the engine. */
        readonly noExecutorMs: number;
        /** Everything else, such as lookups in the cache and notifications. */
        readonly otherMs: number;
      };
      /** The last 100 times that a process has continued the run, oldest first. */
      readonly resumes: readonly {
        /** RFC 3339 in UTC, with milliseconds. */
        readonly at: string;
        /** Of the journal: no process may have executed the run since then. */
        readonly lastRecordAt: string;
      }[];
      /** Sequence number of a record in the journal of the run. */
      readonly position: number;
    };
  };
  /** Delete an ended run that no other run reuses; repeating the request has no effect. */
  readonly deleteRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: {
      readonly runId: string;
      /** False: there is no such run, for example because an earlier request has deleted it. */
      readonly deleted: boolean;
    };
  };
  /** Execute the pipeline of the order as a run with this ID; the same order again starts nothing. */
  readonly orderRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body:
      | {
          /** The pipeline file on the machine of the home, and its parameters. */
          readonly order: {
            /** Absolute path of the pipeline file. */
            readonly file: string;
            /** Values by name, as after `-p`. */
            readonly params: { readonly [key: string]: string };
          };
        }
      | {
          /** What the command was asked for; a server opens none of its paths. */
          readonly order: {
            /** Values by name, as after `-p`. */
            readonly params: { readonly [key: string]: string };
            /** Labels beside those of the pipeline, by name. */
            readonly labels?: { readonly [key: string]: string };
            readonly root?: string;
            readonly ignoreImages?: true;
            readonly profile?: string;
            readonly service?: string;
            readonly account?: string;
            readonly cluster?: string;
            /** The engine of the embedded service. */
            readonly engine?: 'local' | 'slurm' | 'slurm-job';
            readonly cpu?: number;
            /** Absolute path of the pipeline file. */
            readonly file: string;
            /** Most containers at once. */
            readonly parallelism?: number;
            /** Executed on this machine, although the server of the service could. */
            readonly here?: true;
            /** Leave the run when it only waits for an approval. */
            readonly stopAtApproval?: true;
          };
          /** The texts of the pipeline. */
          readonly pipeline: {
            /** The name of the pipeline file among the texts. */
            readonly file: string;
            /** By name: the pipeline file, and every file that it includes or uses. */
            readonly texts: { readonly [key: string]: string };
          };
          /** By volume: the digest of the source that was uploaded to the workspace. */
          readonly sources?: { readonly [key: string]: string };
          /** By volume: the digests of the files and directories of its source that steps read, by path. */
          readonly parts?: { readonly [key: string]: { readonly [key: string]: string } };
          /** By axis: the files of an uploaded source that are its items. */
          readonly files?: { readonly [key: string]: readonly string[] };
          /** The volume for the data of the run, and its login as the service sent it; absent: the run has no data. */
          readonly workspace?: {
            readonly volumeId: string;
            readonly login: {
              readonly username: string;
              readonly password: string;
              readonly address: {
                readonly webdav?: string;
                readonly sftp?: string;
              };
            };
          };
          /** By name: the values of all secrets that the pipeline names. */
          readonly secrets?: { readonly [key: string]: string };
          /** Reuse what succeeded and has not changed of a run that this server has. */
          readonly reuse?: {
            readonly runId: string;
            /** `STEP` or `STEP/CELL`: what is run although it has not changed. */
            readonly from: readonly string[];
          };
        };
    readonly reply: {
      readonly runId: string;
      /** Of a server: the run in its dashboard. */
      readonly url?: string;
    };
  };
  /** The approvals that wait for an answer: what they ask and release, and what has changed since the last one. */
  readonly listApprovals: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: {
      /** In the order of the file; at most 100. */
      readonly approvals: readonly {
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        readonly cellIndex: number;
        /** What is asked. */
        readonly message: string;
        /** The steps that depend on it, directly or through others. */
        readonly releases: readonly string[];
        /** The newest earlier run in which the step was approved, of the ten before; absent if it was in none. */
        readonly previous?: {
          readonly runId: string;
          /** RFC 3339 in UTC, with milliseconds. */
          readonly answeredAt: string;
          /** The first 50. */
          readonly changes: readonly {
            /** `step`: a key of a step that it depends on or releases; `result`: of a step before it. */
            readonly kind: 'param' | 'step' | 'volume' | 'result';
            /** For example `fit.command`, or `fit.accuracy` of a result. */
            readonly name: string;
            /** Absent if there was none; of a volume, only that its content differs. */
            readonly before?: string;
            /** Absent if there is none any more. */
            readonly after?: string;
          }[];
          readonly changeCount: number;
        };
      }[];
    };
  };
  /** The status of every cell, one letter each. */
  readonly getStates: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: {
      /** Sequence number of a record in the journal of the run. */
      readonly position: number;
      /** For each step one letter per cell; empty while the cells of a `foreach` are unknown: w waiting, q ready, a awaitingApproval, b submitting, p pending, r running, u publishing, s succeeded, e succeeded, reused, f failed, k skipped, c canceled. */
      readonly states: readonly string[];
    };
  };
  /** The changes of the status of cells after a position, oldest first. */
  readonly listChanges: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** A position. */
      readonly after?: number;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** This page and those before have all changes up to this position. */
      readonly position: number;
      readonly changes: readonly (readonly [number, number, number, number, ApiCellStatus, number, boolean])[];
      readonly nextPageToken?: string;
    };
  };
  /** The cells of a run or a step. */
  readonly listCells: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index; absent: all steps. */
      readonly step?: string;
      readonly status?: ApiCellStatus;
      /** Words that are all part of `STEP/CELL`. */
      readonly search?: string;
      /** Of the grid; absent: all rows. */
      readonly row?: string;
      /** Of the grid, with `row`. */
      readonly axes?: string;
      /** With the values of the matrix, and the results. */
      readonly values?: string;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly cells: readonly {
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        /** The keys of its items, by axis; absent if the step has no `each`. */
        readonly axes?: { readonly [key: string]: string };
        /** The values of its matrix; absent if the step has none. */
        readonly matrix?: { readonly [key: string]: Json };
        /** Of a cell of `foreach`. */
        readonly item?: Json;
        readonly status: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        /** The number of its last attempt with a container; 0 before the first. */
        readonly attempt: number;
        /** When its first attempt began to run. */
        readonly beganAt?: string;
        /** Of the last attempt, as the following values. */
        readonly containerId?: string;
        readonly clusterId?: string;
        readonly instanceType?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly submittedAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly runningAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly endedAt?: string;
        /** Why it waits, was skipped or has failed. */
        readonly message?: string;
        /** The exposed ports of a cell that runs, by name. */
        readonly ports?: {
          readonly [key: string]: {
            readonly url: string;
          };
        };
        /** With `values`. */
        readonly results?: { readonly [key: string]: Json };
        /** The ID of the run whose outputs it has. */
        readonly reusedFrom?: string;
        readonly stepIndex: number;
        readonly cellIndex: number;
      }[];
      /** The number of matching cells on all pages. */
      readonly total: number;
      readonly nextPageToken?: string;
      /** Sequence number of a record in the journal of the run. */
      readonly position: number;
    };
  };
  /** A row for each item of some axes, with the status of its cells of each step. */
  readonly getGrid: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Names, joined by commas; absent: the first of `choices`. */
      readonly axes?: string;
      /** Only rows with a failed cell. */
      readonly failed?: string;
      /** Index in the matching rows. */
      readonly firstRow?: number;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** Whose combinations of items are the rows; empty if no step has `each`. */
      readonly axes: readonly string[];
      /** The axes that the rows can have, first those that most steps have. */
      readonly choices: readonly (readonly string[])[];
      /** The steps whose cells have these axes. */
      readonly columns: readonly {
        readonly step: string;
        readonly stepIndex: number;
        readonly counts: ApiCounts;
      }[];
      readonly rows: readonly {
        /** The keys of the items, joined by commas. */
        readonly row: string;
        /** In the order of `columns`; null: the step has no cell in the row. */
        readonly entries: readonly ({
          /** Of several cells, the one that stands for them: `failed` if one has failed. */
          readonly status: ApiCellStatus;
          /** An earlier result is reused. */
          readonly reused?: true;
          /** Of the first cell. */
          readonly cellIndex: number;
          readonly cellCount: number;
          /** Of several cells. */
          readonly counts?: ApiCounts;
        } | null)[];
      }[];
      /** The number of matching rows on all pages. */
      readonly total: number;
      /** The number of all rows. */
      readonly rowCount: number;
      /** The number of rows with a failed cell. */
      readonly failedCount: number;
      readonly nextPageToken?: string;
      /** Sequence number of a record in the journal of the run. */
      readonly position: number;
    };
  };
  /** The names of the cells of a step, in order; they do not change. */
  readonly listCellNames: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      readonly firstCellIndex?: number;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** Empty for a plain step. */
      readonly names: readonly string[];
      /** The number of cells of the step. */
      readonly total: number;
      readonly nextPageToken?: string;
    };
  };
  /** The cells of matrices and of `foreach` that have a name, by step. */
  readonly searchCells: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Words that are all part of `STEP/CELL`; at least one is not only part of the name of the step. */
      readonly search: string;
      /** The most cells of one step. */
      readonly perStep?: number;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly steps: readonly {
        readonly step: string;
        readonly stepIndex: number;
        /** The number of its matching cells. */
        readonly total: number;
        /** The first ones. */
        readonly cells: readonly {
          readonly cell: string;
          readonly cellIndex: number;
        }[];
      }[];
      /** The number of all matching cells. */
      readonly total: number;
      readonly nextPageToken?: string;
    };
  };
  /** A cell with its attempts and the explanation of its status. */
  readonly getCell: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly step: string;
      /** Empty for a plain step. */
      readonly cell: string;
      /** The keys of its items, by axis; absent if the step has no `each`. */
      readonly axes?: { readonly [key: string]: string };
      /** The values of its matrix; absent if the step has none. */
      readonly matrix?: { readonly [key: string]: Json };
      /** Of a cell of `foreach`. */
      readonly item?: Json;
      readonly status: ApiCellStatus;
      /** Outputs and results are those of an earlier run. */
      readonly reused?: true;
      /** Why it has failed; present exactly if the status is `failed`. */
      readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
      /** The number of its last attempt with a container; 0 before the first. */
      readonly attempt: number;
      /** When its first attempt began to run. */
      readonly beganAt?: string;
      /** Of the last attempt, as the following values. */
      readonly containerId?: string;
      readonly clusterId?: string;
      readonly instanceType?: string;
      /** RFC 3339 in UTC, with milliseconds. */
      readonly submittedAt?: string;
      /** RFC 3339 in UTC, with milliseconds. */
      readonly runningAt?: string;
      /** RFC 3339 in UTC, with milliseconds. */
      readonly endedAt?: string;
      /** Why it waits, was skipped or has failed. */
      readonly message?: string;
      /** The exposed ports of a cell that runs, by name. */
      readonly ports?: {
        readonly [key: string]: {
          readonly url: string;
        };
      };
      readonly results: { readonly [key: string]: Json };
      /** The ID of the run whose outputs it has. */
      readonly reusedFrom?: string;
      readonly stepIndex: number;
      readonly cellIndex: number;
      readonly wait?: {
        readonly kind:
          | 'dependency'
          | 'finally'
          | 'decision'
          | 'lookUp'
          | 'approval'
          | 'parallelism'
          | 'items'
          | 'stepParallelism'
          | 'pool'
          | 'limit'
          | 'backoff'
          | 'postponed'
          | 'queued';
        readonly message: string;
        /** When the wait began. */
        readonly startedAt: string;
        /** What the user can do; absent if there is nothing to do but wait. */
        readonly advice?: string;
        /** Of `dependency`. */
        readonly steps?: readonly string[];
        /** Of `finally`: steps that have not ended. */
        readonly open?: number;
        /** Of `items`. */
        readonly axis?: string;
        readonly pool?: string;
        readonly limit?: string;
        readonly used?: number;
        readonly size?: number;
        readonly needed?: number;
        /** Of `backoff`. */
        readonly attempt?: number;
        /** Of `postponed`: what is missing. */
        readonly cause?: string;
        /** Of `backoff` and `postponed`: the latest time of the next try. */
        readonly dueAt?: string;
      };
      readonly dependencies: readonly {
        readonly step: string;
        /** The cell that is meant, if it is one. */
        readonly cell?: string;
        /** The number of cells that are meant, if they are a part of the step. */
        readonly cellCount?: number;
        /** The input with rules of its own that reads it. */
        readonly input?: string;
        readonly condition: 'succeeded' | 'failed' | 'completed' | 'skipped' | 'running';
        readonly status: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
      }[];
      /** Of a step with `each`: what the cell comes from, directly or through others, first what is read by others. */
      readonly upstream?: readonly {
        readonly step: string;
        /** The cell that is meant, if it is one. */
        readonly cell?: string;
        /** The number of cells that are meant, if they are a part of the step. */
        readonly cellCount?: number;
        readonly status: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
      }[];
      /** Of a step with `each`: the other cell because of which this one was skipped or waits. */
      readonly rootCause?: {
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        readonly status: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        /** Why it waits, was skipped or has failed. */
        readonly message?: string;
      };
      readonly attempts: readonly {
        readonly attempt: number;
        /** `submitting` until the service has accepted it. */
        readonly status: 'submitting' | 'pending' | 'running' | 'succeeded' | 'failed' | 'canceled';
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        readonly containerId?: string;
        readonly clusterId?: string;
        readonly instanceType?: string;
        /** When the first request for the container was about to be sent. */
        readonly requestedAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly submittedAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly runningAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly endedAt?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly publishedAt?: string;
        /** How often its submission was postponed, and the last reason. */
        readonly postponed?: {
          readonly times: number;
          readonly cause: string;
        };
        readonly failure?: ApiFailure;
        /** Whether another attempt followed, and by which rule. */
        readonly retry?: string;
        /** What its instance type had when the run began; absent if that was not recorded. */
        readonly instance?: {
          /** Cores. */
          readonly cpu: number;
          readonly memoryGB: number;
          readonly gpu?: number;
          readonly gpuModel?: string;
        };
        /** From the submission to the start. */
        readonly queuedMs?: number;
        /** Absent until it has ended, and if it never ran. */
        readonly ranMs?: number;
        /** Cores of the instance type × time that it ran. */
        readonly coreHours?: number;
        /** GPUs of the instance type × time that it ran. */
        readonly gpuHours?: number;
      }[];
      /** The lookup of an earlier result. */
      readonly cache:
        | {
            /** `off`: the step has no `cache`; `noLookup`: there was no lookup, or not yet. */
            readonly kind: 'off' | 'noLookup';
          }
        | {
            readonly kind: 'hit';
            readonly fingerprint: string;
            readonly runId: string;
            readonly step: string;
            /** Empty for a plain step. */
            readonly cell: string;
          }
        | {
            readonly kind: 'missed';
            readonly fingerprint: string;
            readonly cause:
              | 'unknown'
              | 'expired'
              | 'dataGone'
              | 'dataChanged'
              | 'rerun'
              | 'writesShared'
              | 'readsShared'
              | 'secret'
              | 'removed';
            /** Of `rerun`: the step before it that was executed in this run, if that is the reason. */
            readonly after?: string;
            /** The newest success of this cell, and how it differs; absent if there is none. */
            readonly nearest?: {
              readonly runId: string;
              readonly differences: readonly {
                /** Of the component, for example `command` or `inputs.data`. */
                readonly name: string;
                readonly before?: string;
                readonly after?: string;
                /** The step that produces the input. */
                readonly from?: string;
              }[];
            };
            /** Why it cannot be compared. */
            readonly problem?: string;
          };
      /** Everything that happened to the cell, oldest first. */
      readonly history: readonly {
        /** RFC 3339 in UTC, with milliseconds. */
        readonly at: string;
        readonly previousStatus?: ApiCellStatus;
        /** Present if the cell has moved. */
        readonly status?: ApiCellStatus;
        /** Outputs and results are those of an earlier run. */
        readonly reused?: true;
        /** Why it has failed; present exactly if the status is `failed`. */
        readonly reason?: 'failed' | 'oom' | 'timeout' | 'infrastructure';
        /** What moved the cell. */
        readonly cause?:
          | 'released'
          | 'skipped'
          | 'evaluationFailed'
          | 'approved'
          | 'cacheHit'
          | 'cacheMissed'
          | 'picked'
          | 'submitted'
          | 'postponed'
          | 'running'
          | 'serviceReady'
          | 'ended'
          | 'published'
          | 'due'
          | 'stopped';
        /** 0 if it belongs to no attempt. */
        readonly attempt: number;
        readonly message?: string;
      }[];
      /** The limit of one attempt. */
      readonly timeoutMs?: number;
      /** The limit for the wait of one attempt. */
      readonly queueTimeoutMs?: number;
      /** The limit of all attempts together. */
      readonly deadlineMs?: number;
      /** Higher ones start first. */
      readonly priority: number;
      /** The least that the pipeline requests for the first attempt. */
      readonly resources?: {
        /** Cores. */
        readonly cpu?: number;
        readonly memoryBytes?: number;
        readonly gpu?: number;
        readonly gpuModel?: string;
        /** The time that an attempt needs at most. */
        readonly timeMs?: number;
      };
      /** The sum of the attempts that have run and ended. */
      readonly usage: {
        /** The number of attempts that have run and ended. */
        readonly attempts: number;
        readonly ranMs: number;
        /** Absent if it is unknown for an attempt. */
        readonly coreHours?: number;
        /** Absent if it is unknown for an attempt. */
        readonly gpuHours?: number;
      };
      /** With its expressions evaluated as far as possible. */
      readonly image?: string;
      /** With its expressions evaluated as far as possible. */
      readonly command?: readonly string[];
      /** Names of variables, without secrets. */
      readonly environment: readonly string[];
      readonly inputs: readonly {
        readonly name: string;
        /** Mount point in the container. */
        readonly path?: string;
        /** Of an input: `STEP.OUTPUT` or the name of a volume. */
        readonly from?: string;
        /** Absent until the data exist. */
        readonly location?: {
          readonly clusterId: string;
          readonly accountId: string;
          readonly volumeId: string;
          /** Inside the volume. */
          readonly path: string;
        };
        /** The data were temporary, and no cell needed them any more. */
        readonly removed?: true;
      }[];
      readonly outputs: readonly {
        readonly name: string;
        /** Mount point in the container. */
        readonly path?: string;
        /** Of an input: `STEP.OUTPUT` or the name of a volume. */
        readonly from?: string;
        /** Absent until the data exist. */
        readonly location?: {
          readonly clusterId: string;
          readonly accountId: string;
          readonly volumeId: string;
          /** Inside the volume. */
          readonly path: string;
        };
        /** The data were temporary, and no cell needed them any more. */
        readonly removed?: true;
      }[];
      /** Sequence number of a record in the journal of the run. */
      readonly position: number;
    };
  };
  /** The log of an attempt: whole, by `Range`, by lines, or followed to its end. */
  readonly getLog: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
      /** Absent: the last one. */
      readonly attempt?: number;
      /** Number of the first line, from 1. */
      readonly line?: number;
      /** Of lines, with `line`. */
      readonly count?: number;
      /** Send what is written until the attempt ends. */
      readonly follow?: string;
      /** The first byte, with `follow`. */
      readonly offset?: number;
    };
    readonly body: Record<never, never>;
    readonly reply: ReadableStream<Uint8Array>;
  };
  /** The number of the line at an offset of the log of an attempt. */
  readonly findLogLine: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
      /** Absent: the last one. */
      readonly attempt?: number;
      /** Of a byte of the line; beyond the end, the last line. */
      readonly offset: number;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** From 1. */
      readonly line: number;
    };
  };
  /** A directory or file of an input or output: a directory in pages, a file also by `Range`. */
  readonly getFiles: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
      /** Its name; either this or `output`. */
      readonly input?: string;
      /** Its name; either this or `input`. */
      readonly output?: string;
      /** Relative to the input or output. */
      readonly path?: string;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: ReadableStream<Uint8Array>;
  };
  /** Which run, step and attempt wrote the files of an input or output, and who has reused or mounted them. */
  readonly getFileHistory: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
      /** Its name; either this or `output`. */
      readonly input?: string;
      /** Its name; either this or `input`. */
      readonly output?: string;
      /** Relative to the input or output. */
      readonly path?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** The run that was asked for. */
      readonly runId: string;
      /** Whose output the file is part of. */
      readonly step: string;
      readonly output: string;
      /** In the output; absent: all of it. */
      readonly path?: string;
      /** Of the local file that was asked for. */
      readonly sha256?: string;
      /** One for each cell; the first 20. */
      readonly makers: readonly {
        /** The run whose container wrote the files. */
        readonly runId: string;
        /** Absent if the run is no longer in the home. */
        readonly pipeline?: string;
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        /** The attempt whose output was published. */
        readonly attempt?: number;
        readonly containerId?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly publishedAt?: string;
        readonly clusterId: string;
        readonly volumeId: string;
        /** In the volume. */
        readonly path: string;
        /** What is not known or no longer there, and why. */
        readonly problem?: string;
      }[];
      readonly makerCount: number;
      /** Of all runs of the home, newest run first; the first 100. */
      readonly uses: readonly {
        /** A cell counts as done with it; a container mounted it; it was copied to a directory. */
        readonly kind: 'reused' | 'mounted' | 'published';
        readonly runId: string;
        readonly pipeline: string;
        readonly step: string;
        /** Empty for a plain step. */
        readonly cell: string;
        /** Of the input that mounted it, or of the output that was copied. */
        readonly name?: string;
        /** With `published`. */
        readonly directory?: string;
        /** RFC 3339 in UTC, with milliseconds. */
        readonly at?: string;
      }[];
      readonly useCount: number;
      /** What the records cannot say. */
      readonly unknown: readonly string[];
    };
  };
  /** The files of an input or output that differ from those of another run or cell, by their content. */
  readonly compareFiles: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: 0. */
      readonly cellIndex?: number;
      /** Its name; either this or `output`. */
      readonly input?: string;
      /** Its name; either this or `input`. */
      readonly output?: string;
      /** The ID of the other run. */
      readonly with: string;
      /** Absent: the same name. */
      readonly withStep?: string;
      /** Name; absent: the same name. */
      readonly withCell?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** In order of paths, the first 10,000. */
      readonly differences: readonly {
        /** Relative to the input or output. */
        readonly path: string;
        /** `added`: the other run does not have it; `unknown`: too large to be compared. */
        readonly kind: 'added' | 'removed' | 'changed' | 'unknown';
        readonly here?: {
          readonly bytes?: number;
          readonly sha256?: string;
          /** The target of a symlink. */
          readonly link?: string;
        };
        readonly there?: {
          readonly bytes?: number;
          readonly sha256?: string;
          /** The target of a symlink. */
          readonly link?: string;
        };
      }[];
      /** Of the other cell. */
      readonly otherCellIndex: number;
      /** The number of all differences. */
      readonly total: number;
      /** The number of equal files. */
      readonly same: number;
    };
  };
  /** Why a step or a cell differs from that of another run, up to the first cause. */
  readonly explainDifference: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** Name or index. */
      readonly step: string;
      /** Name. */
      readonly cell?: string;
      /** Instead of `cell`; absent both: the whole step. */
      readonly cellIndex?: number;
      /** The ID of the other run; absent: the previous one that has the step. */
      readonly with?: string;
      /** Absent: the same name. */
      readonly withStep?: string;
      /** Name; absent: the same name, or the same values. */
      readonly withCell?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly runId: string;
      /** Absent if no earlier run has the step. */
      readonly otherRunId?: string;
      readonly step: string;
      /** Absent if the whole step is compared. */
      readonly cell?: string;
      /** The step of the other run, if it has another name. */
      readonly otherStep?: string;
      /** The answer as a sentence. */
      readonly message: string;
      /** The cells of both runs together. */
      readonly cellCount: number;
      /** How many of them were compared: at most 10,000. */
      readonly comparedCount: number;
      /** By what differs, largest first, at most 20; those without a difference last. */
      readonly groups: readonly {
        /** `repeated`: the same work, but it or work before it was executed again; `same`: also the same result; `added`: only this run has it; `unknown`: the records say too little. */
        readonly verdict: 'different' | 'repeated' | 'same' | 'added' | 'removed' | 'unknown';
        readonly cellCount: number;
        /** The first 20. */
        readonly cells: readonly string[];
        /** About the first of them: the path to the first cause, as a sentence. */
        readonly message: string;
        /** Index in `places` of the first of them; absent if it is in one run only. */
        readonly place?: number;
      }[];
      readonly groupCount: number;
      /** What the groups and parts refer to, at most 200. */
      readonly places: readonly {
        readonly step: string;
        /** Absent if several cells are meant. */
        readonly cell?: string;
        /** Of `cell`. */
        readonly cellIndex?: number;
        /** Of the other run, if it has another name there. */
        readonly otherCell?: string;
        /** `repeated`: the same work, but it or work before it was executed again; `same`: also the same result; `added`: only this run has it; `unknown`: the records say too little. */
        readonly verdict: 'different' | 'repeated' | 'same' | 'added' | 'removed' | 'unknown';
        /** In words, without what its parts say. */
        readonly message: string;
        /** The first 50, first those that lead to what was changed. */
        readonly parts: readonly {
          /** `source`: an input from a volume; `order`: a step before it that is in no input; `cells`: of such a step. */
          readonly kind:
            | 'image'
            | 'command'
            | 'variable'
            | 'secret'
            | 'key'
            | 'matrix'
            | 'item'
            | 'input'
            | 'source'
            | 'output'
            | 'result'
            | 'order'
            | 'cells'
            | 'other';
          /** For example `command` or `inputs.data`. */
          readonly name: string;
          /** In the other run, shortened; absent if it is new or has no text. */
          readonly before?: string;
          /** In this run, shortened; absent if it was removed or has no text. */
          readonly after?: string;
          /** About this part alone, in words. */
          readonly message: string;
          /** Index in `places` of where the difference comes from. */
          readonly place?: number;
          /** Of `source`: the first 20 files that differ. */
          readonly files?: readonly {
            /** Relative to the source. */
            readonly path: string;
            readonly kind: 'added' | 'removed' | 'changed';
            /** SHA-256 of the content. */
            readonly before?: string;
            /** SHA-256 of the content. */
            readonly after?: string;
          }[];
          /** Of `source`: the number of all files that differ. */
          readonly fileCount?: number;
        }[];
        readonly partCount: number;
      }[];
    };
  };
  /** Which steps of a run differ from those of another run, and why. */
  readonly compareSteps: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      /** The ID of the other run. */
      readonly with: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** Those of the run in their order, then those that only the other run has. */
      readonly steps: readonly {
        readonly step: string;
        /** Of several cells, that of the first group: `different` if one differs. */
        readonly verdict: 'different' | 'repeated' | 'same' | 'added' | 'removed' | 'unknown';
        /** Why it differs, as a sentence. */
        readonly message: string;
        /** The cells of both runs together. */
        readonly cellCount: number;
        /** The number of cells that differ, among those that were compared. */
        readonly differentCount: number;
      }[];
      /** The number of all steps of both runs; the first 300 are compared. */
      readonly total: number;
    };
  };
  /** Events of runs and of the list of runs, as server-sent events. */
  readonly streamEvents: {
    readonly path: Record<never, never>;
    readonly query: {
      /** IDs of runs. */
      readonly run?: string | readonly string[];
      readonly list?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: ReadableStream<Uint8Array>;
  };
  /** Cancel a run; `finally` steps still run. */
  readonly cancelRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
    };
    readonly reply: ApiAction;
  };
  /** Approve a step that waits for approval. */
  readonly approveRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
      readonly step: string;
      readonly by?: string;
    };
    readonly reply: ApiAction;
  };
  /** Reject a step that waits for approval. */
  readonly rejectRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
      readonly step: string;
      readonly by?: string;
    };
    readonly reply: ApiAction;
  };
  /** Continue a suspended run. */
  readonly resumeRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
    };
    readonly reply: ApiAction;
  };
  /** Start the pipeline of an ended run again: whole, what has failed, from a step, or with other parameters. */
  readonly rerunRun: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
      /** Run all steps; default: reuse successful, unchanged steps of the run. */
      readonly all?: boolean;
      /** `STEP` or `STEP/CELL`: what is rerun with everything that depends on it. */
      readonly from?: readonly string[];
      /** Parameters that replace those of the run. */
      readonly params?: { readonly [key: string]: Json };
      /** A YAML or JSON file below the project of the home, with values of parameters; `params` replaces them. */
      readonly paramsFile?: string;
    };
    readonly reply: ApiAction;
  };
  /** The schedules of the home. */
  readonly listSchedules: {
    readonly path: Record<never, never>;
    readonly query: {
      /** Number of planned times of each. */
      readonly next?: number;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** By name. */
      readonly schedules: readonly {
        readonly name: string;
        readonly file?: string;
        /** The parameters and options of all runs; absent if no command has recorded them. */
        readonly settings?: {
          /** Values by name, as after `-p`. */
          readonly params: { readonly [key: string]: string };
          /** Labels beside those of the pipeline, by name. */
          readonly labels?: { readonly [key: string]: string };
          readonly root?: string;
          readonly ignoreImages?: true;
          readonly profile?: string;
          readonly service?: string;
          readonly account?: string;
          readonly cluster?: string;
          /** The engine of the embedded service. */
          readonly engine?: 'local' | 'slurm' | 'slurm-job';
          readonly cpu?: number;
        };
        readonly timezone: string;
        /** The next planned times; empty if it is paused or has none. */
        readonly nextAt: readonly string[];
        /** RFC 3339 in UTC, with milliseconds. */
        readonly pausedAt?: string;
      }[];
      readonly nextPageToken?: string;
    };
  };
  /** The planned times of a schedule, past and future, and their runs. */
  readonly listPlannedTimes: {
    readonly path: {
      readonly name: string;
    };
    readonly query: {
      /** Absent: 30 days ago. */
      readonly from?: string;
      /** Absent: in 7 days. */
      readonly to?: string;
      /** True: only times with a run, and skipped ones. */
      readonly recorded?: string;
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      /** Oldest first. */
      readonly times: readonly {
        /** RFC 3339 in UTC, with milliseconds. */
        readonly plannedAt: string;
        /** `missed`: no process ran the schedule at this time, or it was paused. */
        readonly status: 'planned' | 'started' | 'skipped' | 'missed';
        /** Of a started one. */
        readonly runId?: string;
        /** Of its run; absent until it begins, and after it was removed. */
        readonly runStatus?: ApiRunStatus;
        readonly isBackfill?: boolean;
        /** Why it was skipped. */
        readonly message?: string;
      }[];
      readonly nextPageToken?: string;
    };
  };
  /** Start no more runs of a schedule. */
  readonly pauseSchedule: {
    readonly path: {
      readonly name: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
    };
    readonly reply: ApiAction;
  };
  /** Start runs of a schedule again. */
  readonly unpauseSchedule: {
    readonly path: {
      readonly name: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
    };
    readonly reply: ApiAction;
  };
  /** Run the pipeline of a schedule now, with its recorded settings. */
  readonly runSchedule: {
    readonly path: {
      readonly name: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
    };
    readonly reply: ApiAction;
  };
  /** Run planned times that were skipped or missed, one after the other. */
  readonly backfillSchedule: {
    readonly path: {
      readonly name: string;
    };
    readonly query: Record<never, never>;
    readonly body: {
      /** Return what would happen, and change nothing. */
      readonly dryRun?: boolean;
      /** The first planned time. */
      readonly from: string;
      /** The last planned time, included. */
      readonly to: string;
    };
    readonly reply: ApiAction;
  };
  /** The clusters of the service of the newest run, and the pools of the home, with their load. */
  readonly listClusters: {
    readonly path: Record<never, never>;
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: {
      readonly clusters: readonly {
        readonly clusterId: string;
        readonly accountId: string;
        readonly instanceTypes: readonly {
          readonly id: string;
          readonly cpu: number;
          readonly memoryGB: number;
          readonly gpu?: number;
        }[];
        /** Those of the account that have not ended, by phase. */
        readonly containers: { readonly [key: string]: number };
      }[];
      /** Why the service could not be asked. */
      readonly message?: string;
      readonly pools: readonly {
        readonly name: string;
        /** Absent if no run in progress declares the pool. */
        readonly size?: number;
        readonly used: number;
        /** Slots that attempts wait for. */
        readonly waiting: number;
      }[];
    };
  };
  /** The pipeline files of the project that contains the home, with their parameters. */
  readonly listPipelines: {
    readonly path: Record<never, never>;
    readonly query: {
      /** The most entries of a page. */
      readonly pageSize?: number;
      /** `nextPageToken` of the previous page. */
      readonly pageToken?: string;
    };
    readonly body: Record<never, never>;
    readonly reply: {
      readonly pipelines: readonly {
        /** Absolute path on the machine of the server. */
        readonly file: string;
        /** Absent if the file has errors. */
        readonly pipeline?: string;
        readonly description?: string;
        /** Why it cannot be run. */
        readonly message?: string;
        readonly params: readonly {
          readonly name: string;
          readonly type: string;
          readonly required: boolean;
          readonly default?: Json;
          readonly enum?: readonly Json[];
          readonly description?: string;
        }[];
      }[];
      readonly nextPageToken?: string;
    };
  };
  /** The journal of a run; with another `ETag` it may differ before `offset`. */
  readonly getJournal: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: {
      readonly offset?: number;
    };
    readonly body: Record<never, never>;
    readonly reply: ReadableStream<Uint8Array>;
  };
  /** The plan of a run, as it is stored. */
  readonly getPlanFile: {
    readonly path: {
      readonly runId: string;
    };
    readonly query: Record<never, never>;
    readonly body: Record<never, never>;
    readonly reply: ReadableStream<Uint8Array>;
  };
}

/** The data of each event of the run API, by its name. */
export interface RunApiEvents {
  /** What has changed since the previous event of this run. Empty if only the run itself has changed. */
  readonly changes: {
    readonly runId: string;
    /** Sequence number of a record in the journal of the run. */
    readonly position: number;
    readonly changes: readonly (readonly [number, number, number, number, ApiCellStatus, number, boolean])[];
    readonly run: ApiRunHead;
  };
  /** Replaces everything known of the run: the first event of a run, or the missed part is too large. */
  readonly snapshot: {
    readonly runId: string;
    /** Sequence number of a record in the journal of the run. */
    readonly position: number;
    /** For each step one letter per cell; empty while the cells of a `foreach` are unknown: w waiting, q ready, a awaitingApproval, b submitting, p pending, r running, u publishing, s succeeded, e succeeded, reused, f failed, k skipped, c canceled. */
    readonly states: readonly string[];
    readonly run: ApiRunHead;
  };
  /** Runs that appeared or changed since the previous event, and the IDs of removed ones. */
  readonly runs: {
    readonly runs: readonly ApiRun[];
    readonly removed: readonly string[];
  };
  /** The run cannot be read, or not any longer. Further events follow if that changes while a client follows it. */
  readonly missing: {
    readonly runId: string;
    readonly message: string;
  };
}

/** The method and path of each operation. */
export const OPERATIONS: { readonly [N in keyof RunApiOperations]: readonly [method: string, path: string] } = {
  listRuns: ['GET', '/runs'],
  submitRun: ['POST', '/runs'],
  getRun: ['GET', '/runs/{runId}'],
  deleteRun: ['DELETE', '/runs/{runId}'],
  orderRun: ['PUT', '/runs/{runId}'],
  listApprovals: ['GET', '/runs/{runId}/approvals'],
  getStates: ['GET', '/runs/{runId}/states'],
  listChanges: ['GET', '/runs/{runId}/changes'],
  listCells: ['GET', '/runs/{runId}/cells'],
  getGrid: ['GET', '/runs/{runId}/grid'],
  listCellNames: ['GET', '/runs/{runId}/cell-names'],
  searchCells: ['GET', '/runs/{runId}/cell-matches'],
  getCell: ['GET', '/runs/{runId}/cell'],
  getLog: ['GET', '/runs/{runId}/log'],
  findLogLine: ['GET', '/runs/{runId}/log-line'],
  getFiles: ['GET', '/runs/{runId}/files'],
  getFileHistory: ['GET', '/runs/{runId}/history'],
  compareFiles: ['GET', '/runs/{runId}/differences'],
  explainDifference: ['GET', '/runs/{runId}/difference'],
  compareSteps: ['GET', '/runs/{runId}/step-differences'],
  streamEvents: ['GET', '/events'],
  cancelRun: ['POST', '/runs/{runId}:cancel'],
  approveRun: ['POST', '/runs/{runId}:approve'],
  rejectRun: ['POST', '/runs/{runId}:reject'],
  resumeRun: ['POST', '/runs/{runId}:resume'],
  rerunRun: ['POST', '/runs/{runId}:rerun'],
  listSchedules: ['GET', '/schedules'],
  listPlannedTimes: ['GET', '/schedules/{name}/times'],
  pauseSchedule: ['POST', '/schedules/{name}:pause'],
  unpauseSchedule: ['POST', '/schedules/{name}:unpause'],
  runSchedule: ['POST', '/schedules/{name}:run'],
  backfillSchedule: ['POST', '/schedules/{name}:backfill'],
  listClusters: ['GET', '/clusters'],
  listPipelines: ['GET', '/pipelines'],
  getJournal: ['GET', '/runs/{runId}/journal'],
  getPlanFile: ['GET', '/runs/{runId}/plan-file'],
};
