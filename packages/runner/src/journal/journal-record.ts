import type { Cell, Json } from '@sluice/core';
import type { BootTime } from '../clock.ts';
import type { SchedulerEvent } from '../scheduler/model/event.ts';
import type { ImageDigests } from './image-digests.ts';
import type { KeptResult } from './kept-result.ts';
import type { RunPlacement } from './placement.ts';
import type { Reuse } from './reuse.ts';
import type { WarningTopic } from './run-warning.ts';
import type { SchedulerStart } from './scheduler-start.ts';

/**
 * One line of a run's journal. Replaying the `event` records through the scheduler, and all records through the facts,
 * gives the run back. No record ever holds a secret.
 */
export type JournalRecord =
  /** The first record: what the run is. */
  | {
      readonly kind: 'run';
      readonly format: 1;
      readonly runId: string;
      readonly pipeline: string;
      readonly at: number;
      /** What time the run is for. Absent in journals of earlier versions. */
      readonly plannedTime?: number;
      readonly clusterID: string;
      readonly accountID: string;
      /** Absolute directory of the pipeline file. */
      readonly baseDir: string;
      readonly scheduler: SchedulerStart;
      /** Where its steps may go; absent: to its own cluster. */
      readonly placement?: RunPlacement;
      /** What the images were when it began, as far as the service could tell. */
      readonly images?: ImageDigests;
      /** The run whose successes it takes over. */
      readonly reuse?: Reuse;
      /** The words of a command that starts the same run again, for people. */
      readonly rerun?: readonly string[];
    }
  /**
   * The journal before this one was lost, and the run was rebuilt from its containers' labels: whatever is submitted may
   * have been started already.
   */
  | { readonly kind: 'adopted'; readonly at: number; readonly attempts: AdoptedAttempts }
  /** A runner has taken the run up. */
  | {
      readonly kind: 'opened';
      readonly at: number;
      readonly epoch: number;
      readonly host: string;
      readonly pid: number;
      /** Of its machine, for whoever takes the run up next. Absent in journals of earlier versions. */
      readonly boot?: BootTime;
    }
  /** What the scheduler heard. */
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
      /** Digest of the container as sent, without secrets. */
      readonly spec: string;
    }
  /** Durable before the first cancel call of a container. */
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
  /** A tree is whole in another cluster's workspace. */
  | {
      readonly kind: 'transferred';
      readonly at: number;
      readonly from: string;
      readonly to: string;
      readonly path: string;
      readonly files: number;
      readonly bytes: number;
    }
  /** How a tree was that containers read on a cluster without read-only mounts, as a digest; durable before the first of them. */
  | { readonly kind: 'inputState'; readonly volumeID: string; readonly path: string; readonly digest: string }
  /** Volumes that the run works with, by the pipeline's name for them; `''` is the workspace, `@<cluster>` that on another. */
  | { readonly kind: 'volumes'; readonly volumes: Readonly<Record<string, VolumePlace>> }
  /** Local copies of the outputs are complete, but for those of `undelivered`, which says why. */
  | {
      readonly kind: 'delivered';
      readonly at: number;
      readonly outputs: Readonly<Record<string, string>>;
      readonly undelivered?: Readonly<Record<string, string>>;
      readonly kept?: Readonly<Record<string, KeptResult>>;
    }
  /** A notification of the end has been sent, or given up; `index` counts in the pipeline's `notify`. */
  | { readonly kind: 'notified'; readonly at: number; readonly index: number }
  /** Something that the user was told of and that stopped nothing; each text once. Absent in journals of earlier versions. */
  | { readonly kind: 'warning'; readonly at: number; readonly message: string; readonly concerns?: WarningTopic }
  /** The last record of a run that is over. */
  | { readonly kind: 'finished'; readonly at: number; readonly status: 'succeeded' | 'failed' | 'canceled' };

/** The cluster of each attempt that an adoption found, by `step/cell` and then by the attempt's number. */
export type AdoptedAttempts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Where a named volume's content is mounted from. */
export interface VolumePlace {
  readonly volumeID: string;
  /** Path inside the volume, `''` for all of it. */
  readonly path: string;
  /** Digest of the content where it is known and cannot change. */
  readonly digest?: string;
}

/** What the shell has to know beside an event; each field belongs to one type of event. */
export interface EventFacts {
  /** `decided`, of a foreach step. */
  readonly cells?: readonly Cell[];
  /** `submitted`, `running`. */
  readonly container?: ContainerFacts;
  /** `ended`: when the container ran by the service's own times, where these differ from what was seen. */
  readonly times?: { readonly runningAt?: number; readonly endedAt?: number };
  /** `published`. */
  readonly results?: Readonly<Record<string, Json>>;
  /** `cacheHit`. */
  readonly cached?: CacheSource;
  /** `cacheMissed`. */
  readonly missed?: CacheMiss;
}

/** What the service showed of a container: when it was created, which run it is, and where it answers. */
export interface ContainerFacts {
  readonly createTime?: string;
  readonly runID?: string;
  readonly ports?: Readonly<Record<string, { readonly port?: number; readonly host?: string }>>;
}

/** What was looked for, and why it was not found. */
export interface CacheMiss {
  readonly fingerprint: string;
  readonly components: readonly { readonly name: string; readonly value: string }[];
  /**
   * `unknown`: no success has this fingerprint. `anew`: a rerun was requested, or a dependency was rerun. `writesShared`:
   * its effect is in a volume, not in its outputs. `secret`: a result of the success contains the value that a secret has
   * now. `dataChanged`: a container has written to the outputs since.
   */
  readonly reason: 'unknown' | 'expired' | 'dataGone' | 'dataChanged' | 'anew' | 'writesShared' | 'secret';
  /** The run of the newest success of this cell, whatever its fingerprint was. */
  readonly latest?: string;
}

/** Whose outputs and results a cached cell reuses. */
export interface CacheSource {
  readonly runId: string;
  readonly step: string;
  /** Key of the cell there. */
  readonly cell: string;
  readonly volumeID: string;
  /** What its outputs are known by: its fingerprint, or the attempt that made them. */
  readonly fingerprint: string;
  /** Digest of the keys of all the step's cells there: equal to ours, the whole parent can be mounted at once. */
  readonly siblings: string;
  readonly results: Readonly<Record<string, Json>>;
}
