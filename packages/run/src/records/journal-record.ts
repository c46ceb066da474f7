import type { Cell, Json, Lists } from '@sluice/core';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { MissReason } from '../schemas/miss-reasons.ts';
import type { RunOrder } from '../schemas/run-order.ts';
import type { StaleOutput } from '../schemas/stale-output.ts';
import type { WarningTopic } from '../schemas/warning.ts';
import type { BootTime } from './boot-time.ts';
import type { ImageDigests } from './image-digests.ts';
import type { InstanceSize } from './instance-size.ts';
import type { RunPlacement } from './placement.ts';
import type { Reuse } from './reuse.ts';
import type { SchedulerStart } from './scheduler-start.ts';

/**
 * One line of a run's journal. Replaying the `event` records through the scheduler, and all records through the facts,
 * restores the run. No record ever contains a secret.
 */
export type JournalRecord =
  /** The first record: what the run is. */
  | {
      readonly kind: 'run';
      readonly format: 2;
      readonly runId: string;
      readonly pipeline: string;
      readonly at: number;
      /** For which a schedule planned the run; otherwise its start, or the planned time of the run that it reuses. */
      readonly plannedTime: number;
      readonly clusterID: string;
      readonly accountID: string;
      /** Absolute directory of the pipeline file. */
      readonly baseDir: string;
      readonly scheduler: SchedulerStart;
      /** The clusters on which its steps may run; absent: only its own cluster. */
      readonly placement?: RunPlacement;
      /** The instance types of its clusters when the run began, since a service may change them. */
      readonly instanceSizes: readonly InstanceSize[];
      /** Of the images whose digests the service reported when the run began. */
      readonly images?: ImageDigests;
      /** The earlier run whose results it reuses. */
      readonly reuse?: Reuse;
      /** The ended run whose plan it executes again, if a server has started it. */
      readonly rerunOf?: string;
      /** Absent: no command has started it, but a program or a server. */
      readonly order?: RunOrder;
    }
  /**
   * The previous journal was lost, and the run was rebuilt from its containers' labels: any container that is submitted
   * may already have been started.
   */
  | { readonly kind: 'adopted'; readonly at: number; readonly attempts: AdoptedAttempts }
  /** A runner has started or resumed the run. */
  | {
      readonly kind: 'opened';
      readonly at: number;
      readonly epoch: number;
      readonly host: string;
      readonly pid: number;
      /** Of its machine, for the runner that resumes the run; absent without a clock that cannot be set. */
      readonly boot?: BootTime;
    }
  /** An event that the scheduler has received. */
  | { readonly kind: 'event'; readonly event: SchedulerEvent; readonly facts?: EventFacts }
  /** Durable before the container's first POST. */
  | {
      readonly kind: 'intent';
      readonly at: number;
      readonly step: number;
      readonly cell: number;
      readonly attempt: number;
      readonly id: string;
      readonly clusterID: string;
      readonly instanceType: string;
      /** Digest of the container request, without secrets. */
      readonly spec: string;
    }
  /** Durable before the first request to cancel a container. */
  | {
      readonly kind: 'cancelIntent';
      readonly at: number;
      readonly step: number;
      readonly cell: number;
      readonly attempt: number;
      readonly reason: string;
    }
  /** The archived log of an attempt that failed. */
  | {
      readonly kind: 'log';
      readonly step: number;
      readonly cell: number;
      readonly attempt: number;
      readonly tail: readonly string[];
      /** Relative to the run's directory. */
      readonly file?: string;
    }
  /** No cell needs this temporary output of a success any more; durable before it is removed. */
  | {
      readonly kind: 'removed';
      readonly at: number;
      readonly step: number;
      readonly cell: number;
      readonly output: string;
    }
  /** A tree has been copied completely to another cluster's workspace. */
  | {
      readonly kind: 'transferred';
      readonly at: number;
      readonly from: string;
      readonly to: string;
      readonly path: string;
      readonly files: number;
      readonly bytes: number;
    }
  /**
   * The digest of an input tree on a cluster that cannot mount read-only; durable before the first container that mounts
   * the tree.
   */
  | { readonly kind: 'inputState'; readonly volumeID: string; readonly path: string; readonly digest: string }
  /** The run's volumes by their name in the pipeline; `''` is the workspace, `@<cluster>` that on another cluster. */
  | { readonly kind: 'volumes'; readonly volumes: Readonly<Record<string, VolumePlace>> }
  /** Local copies of the outputs are complete, except those in `undelivered`, which has the reasons. */
  | {
      readonly kind: 'delivered';
      readonly at: number;
      readonly outputs: Readonly<Record<string, string>>;
      readonly undelivered?: Readonly<Record<string, string>>;
      readonly staleOutputs?: Readonly<Record<string, StaleOutput>>;
      /** Outputs that another machine is to copy to its directories, since the run ended elsewhere. */
      readonly pending?: readonly string[];
    }
  /** A notification of the end was sent, or all attempts failed; `index` is that in the pipeline's `notify`. */
  | { readonly kind: 'notified'; readonly at: number; readonly index: number }
  /** A warning that was shown to the user; each text once. */
  | { readonly kind: 'warning'; readonly at: number; readonly message: string; readonly concerns?: WarningTopic }
  /** The last record of a run that has ended. */
  | { readonly kind: 'finished'; readonly at: number; readonly status: 'succeeded' | 'failed' | 'canceled' };

/** The cluster of each attempt that the adoption found, by `step/cell` and then by the attempt's number. */
export type AdoptedAttempts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The directory of a volume that holds a named volume's content. */
export interface VolumePlace {
  readonly volumeID: string;
  /** Path inside the volume, `''` for all of it. */
  readonly path: string;
  /** Digest of the content if it is known and cannot change. */
  readonly digest?: string;
  /** Of the content: the digests of files and directories that inputs name, by path. Others are not known. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** Data that the shell needs in addition to an event; each field belongs to one type of event. */
export interface EventFacts {
  /** `decided`, of a foreach step. */
  readonly cells?: readonly Cell[];
  /** `submitted`, `running`. */
  readonly container?: ContainerFacts;
  /** `ended`: when the container ran according to the service, if this differs from the times of the events. */
  readonly times?: { readonly runningAt?: number; readonly endedAt?: number };
  /** `published`. */
  readonly results?: Readonly<Record<string, Json>>;
  /** `published`, `cacheHit`: the items that the cell has listed. */
  readonly lists?: Lists;
  /** `cacheHit`. */
  readonly cached?: CacheSource;
  /** `cacheMissed`. */
  readonly missed?: CacheMiss;
}

/** What the service reported about a container. */
export interface ContainerFacts {
  readonly createTime?: string;
  /** The service's ID of this execution of the container; another one after a restart under the same container ID. */
  readonly runID?: string;
  readonly ports?: Readonly<Record<string, { readonly port?: number; readonly host?: string }>>;
}

/** A lookup in the cache without a usable result. */
export interface CacheMiss {
  readonly fingerprint: string;
  readonly components: readonly { readonly name: string; readonly value: string }[];
  readonly reason: MissReason;
  /** The run of the newest success of this cell with any fingerprint. */
  readonly latest?: string;
  /** Of `removed`: the success of which the cell creates the temporary outputs again. Its identity and results remain. */
  readonly restores?: CacheSource;
}

/** The cell of an earlier run whose outputs and results a cached cell reuses. */
export interface CacheSource {
  readonly runId: string;
  readonly step: string;
  /** Key of the cell there. */
  readonly cell: string;
  /** Path of its outputs below the directory of all cells; absent: the key. */
  readonly path?: string;
  readonly volumeID: string;
  /** The identity of its outputs: its fingerprint, or the attempt that wrote them. */
  readonly fingerprint: string;
  /** Digest of the keys of all the step's cells there. If it equals ours, their parent directory can be mounted at once. */
  readonly siblings: string;
  readonly results: Readonly<Record<string, Json>>;
}
