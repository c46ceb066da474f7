import type { Feature, JobRequest } from '@sluice/client';

/**
 * How a cluster runs containers. An engine knows nothing of phases, accounts, HTTP or the store: it receives launches and
 * reports observations. State that must survive a restart is kept in the container's own directory or in the system behind
 * the engine. `describeEngine` is the contract suite of all engines.
 */
export interface Engine {
  /** Extensions that it supports, announced with the cluster's instance types. */
  readonly features: readonly Feature[];
  /** Its containers see no files of the host except mounts, so no storage needs to be hidden from them. */
  readonly hidesHost?: boolean;
  /**
   * Connects and starts reporting to `sink`. Throws `EngineError` if the engine cannot work here, with a message that says
   * what is missing and what to do.
   */
  open(sink: EngineSink): Promise<void>;
  /**
   * Starts the container of `launch.key`. Idempotent: another call with the same key never starts a second container, even
   * after a lost response or a restart of the service or the engine. Resolves once the engine has taken it. Throws
   * `EngineError`: `REJECTED` and `FAULT` end the container at once with that reason, `UNAVAILABLE` is retried. If `signal` is aborted,
   * the container is no longer needed: slow preparations such as a pull are aborted, and the promise settles.
   */
  launch(launch: Launch, options?: LaunchOptions): Promise<void>;
  /**
   * After a restart of the service: watches containers that an earlier process launched. The current state of each is
   * reported; those without any trace are reported as `absent`.
   */
  recover(launches: readonly Launch[]): Promise<void>;
  /**
   * Ends the container: sends SIGTERM, waits `graceMs`, and kills the whole process tree. The end is reported to the sink.
   * Idempotent: of several calls the earliest deadline counts. The promise of an earlier call may still be pending.
   */
  stop(key: string, options: { graceMs: number }): Promise<void>;
  /** Removes an ended container from the system behind the engine; its directory is removed by the service. Idempotent. */
  remove(key: string): Promise<void>;
  /** Throws `EngineError` `REJECTED` for an invalid image name. Does not check whether the image exists. */
  checkImage?(image: string): void;
  /**
   * Throws `EngineError` `REJECTED` for what it does not allow to a container of this instance type. Called before a container
   * is created; `launch` checks it again, since the configuration may have changed. An engine without it ignores all requests.
   */
  checkJob?(job: JobRequest, source: JobSource): void;
  /**
   * The digest of the image that `launch` would run now; undefined if it cannot be determined. Only for engines with the
   * feature `image-digests`. Throws `EngineError`: `REJECTED` for an invalid image name, `UNAVAILABLE` if only the registry
   * could tell and does not.
   */
  resolveImage?(image: string, options: ImageQuery): Promise<string | undefined>;
  /**
   * The PID, on this machine, of a process in the container's PID namespace; undefined if it has none or it is unknown. Only
   * for engines whose containers are processes of this machine.
   */
  findProcess?(key: string): Promise<number | undefined>;
  /** The hardware models of the machines that `options` select, as far as known. Call it only once the engine is open. */
  models?(options: Launch['options']): HardwareModels;
  /** Warnings for users about how it works on this machine. Call it only once the engine is open. */
  warnings?(): readonly string[];
  /** Stops reporting and closes connections. Containers continue. */
  close(): Promise<void>;
}

/** The manufacturers' names; absent if they are unknown or the machines differ. */
export interface HardwareModels {
  readonly cpu?: string;
  readonly gpu?: string;
}

/** How an image is resolved. */
export interface ImageQuery {
  readonly accountID: string;
  /** As the registry has it now, even if the machine has another one of this name: for `pull: always`. Default: false. */
  readonly fresh?: boolean | undefined;
}

/** The container of a job, and what its instance type gives to it. */
export interface JobSource {
  /** As in `Launch`. */
  readonly options: Launch['options'];
  /** Of one task. */
  readonly gpus: number;
  readonly image?: string | undefined;
}

/** How a launch can be aborted. */
export interface LaunchOptions {
  readonly signal?: AbortSignal;
}

/**
 * What to run. Everything is resolved: arguments contain no `BAT_PORT_…`, and there are no volume IDs or instance type
 * names.
 */
export interface Launch {
  /**
   * Unique for all time, derived from the container's ID and its creation: `[a-z0-9-]+`, at most 120 characters. Engines use
   * it in names and labels.
   */
  readonly key: string;
  /** The boot ID of the service's machine when the key was created; absent if it is unknown. */
  readonly bootId?: string;
  readonly containerID: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly image?: string;
  /** Empty to run the image's own command. */
  readonly command: readonly string[];
  /** The whole environment from user and service; the engine adds only what its images need (`PATH`, `HOME`). */
  readonly env: Readonly<Record<string, string>>;
  /** Assigned port numbers by name; they are already in `env`. */
  readonly ports: Readonly<Record<string, number>>;
  readonly mounts: readonly Mount[];
  /** Of all its tasks together. */
  readonly limits: Limits;
  /** Absolute path of this container's own directory. It exists, is writable by the service, and is kept until purge. */
  readonly directory: string;
  /** Absolute path of the file for stdout and stderr, in the order written; inside `directory`. */
  readonly logPath: string;
  /**
   * Maximum size of the log in bytes, at least 1,000,000. Default: no limit. Of longer output, the beginning and the end are
   * kept, with a line between them; the command is not affected.
   */
  readonly logLimitBytes?: number;
  /** The engine's options of the instance type, from the cluster's configuration: partition, QOS, … */
  readonly options: Readonly<Record<string, unknown>>;
  /** What the client requests from the system behind the engine, which uses what it announces. */
  readonly job?: JobRequest;
}

/**
 * A volume or a part of it, bound into the container. The engine must not let `subPath` leave `root`, not even by symbolic
 * links.
 */
export interface Mount {
  /** Absolute path of the volume's root on the host. */
  readonly root: string;
  /** Relative to `root`, `''` for the whole volume. The service has created it. */
  readonly subPath: string;
  readonly kind: 'dir' | 'file';
  /** Absolute path inside the container. */
  readonly target: string;
  /**
   * The container cannot change what is mounted here, not even through mounts inside it, and cannot make it writable. Inner
   * mounts that are not read-only stay writable. Default: false.
   */
  readonly readOnly?: boolean;
}

/** The resources of a container; `cores` may be a fraction. */
export interface Limits {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/** Receives an engine's reports. Reports for one key are in order; a report may be repeated. */
export interface EngineSink {
  report(key: string, observation: Observation): void;
  /**
   * The system behind the open engine does not answer, for this reason; undefined: it answers again. May be repeated.
   * Default: ignored.
   */
  answers?(failure: string | undefined): void;
}

/** An observed change of a container. Times are in milliseconds since the epoch. */
export type Observation =
  /** Not started yet; `reason` is for people (`pulling image`, `waiting for resources`). */
  | { readonly type: 'pending'; readonly reason: string }
  /** The first instruction runs now or soon. `host` is the address of its ports, for the proxy. */
  | {
      readonly type: 'running';
      readonly startedAt: number;
      readonly nodeID: string;
      readonly runID: string;
      readonly host: string;
    }
  /** The command has ended, and the engine is cleaning up. */
  | { readonly type: 'exiting' }
  | { readonly type: 'ended'; readonly endedAt: number; readonly end: End }
  /** Only after `recover`: the engine has no trace of it and guarantees that it never started. */
  | { readonly type: 'absent' };

/** How a container ended. */
export type End =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly signal?: string;
      readonly outOfMemory?: boolean;
      /** The system behind the engine ended it at its own time limit, whatever exit code it had then. */
      readonly timedOut?: boolean;
      /** The disk of the storage was full when the end was observed. Added by the service to those of the engines. */
      readonly diskFull?: boolean;
    }
  /** It could not be started because of the request: no such image, no such command. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** It was ended by `stop`. */
  | { readonly kind: 'stopped' }
  /** The underlying system failed, or there is no evidence of how it ended. */
  | { readonly kind: 'fault'; readonly reason: string };

/**
 * A request that the engine cannot fulfill: `REJECTED` means never, `FAULT` not for this container, but perhaps for another
 * attempt, and `UNAVAILABLE` not now. The message is shown to users.
 */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: 'REJECTED' | 'FAULT' | 'UNAVAILABLE';

  constructor(code: EngineError['code'], message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
