import type { Feature } from '@sluice/client';

/**
 * How a cluster of the service runs containers. An engine knows nothing of phases, accounts, HTTP or the store: it is
 * told to launch, and it reports what it has seen. Everything that it must remember across a restart it keeps in the
 * container's own directory or in the engine behind it; `describeEngine` is the contract that all pass.
 */
export interface Engine {
  /** Extensions that it supports, announced with the cluster's instance types. */
  readonly features: readonly Feature[];
  /** Its containers see nothing of the host's files but what is mounted: no storage needs to be hidden from them. */
  readonly hidesHost?: boolean;
  /**
   * Connects and starts to report to `sink`; throws when the engine cannot work here, with a message that says what
   * is missing and what to do.
   */
  open(sink: EngineSink): Promise<void>;
  /**
   * Starts the container of `launch.key`, or finds it started: a second call with one key never starts a second
   * container, also after a lost answer, a restart of the service, or of the engine. Resolves once the engine has
   * taken it. Throws `EngineError`: `REFUSED` ends the container at once with that reason, `UNAVAILABLE` is tried again.
   * When `signal` is aborted the container is wanted no more: what takes long before its start, such as a pull, is given
   * up, and the promise settles.
   */
  launch(launch: Launch, options?: LaunchOptions): Promise<void>;
  /**
   * After a restart of the service: takes up watching containers that an earlier process launched. For each, what is
   * true now is reported, and what has no trace at all is reported as `absent`.
   */
  recover(launches: readonly Launch[]): Promise<void>;
  /**
   * Ends the container: asks, waits `graceMs`, kills the whole tree. The end comes through the sink. Idempotent; when it is
   * called again, the earlier of the deadlines counts, and the promise of an earlier call may still be pending.
   */
  stop(key: string, options: { graceMs: number }): Promise<void>;
  /** Forgets an ended container in the engine behind (its directory is the service's to delete). Idempotent. */
  remove(key: string): Promise<void>;
  /** Throws `EngineError` `REFUSED` for what can be no image here, without asking whether there is one. */
  checkImage?(image: string): void;
  /**
   * The digest of what `launch` with this image would run now; undefined where that cannot be told. Only of an engine
   * with the feature `image-digests`. Throws `EngineError`: `REFUSED` for what is no image name.
   */
  resolveImage?(image: string, options: { readonly accountID: string }): Promise<string | undefined>;
  /**
   * The ID, on this machine, of a process in the container's own PID namespace; undefined where it has none, or that cannot
   * be told. Only of an engine whose containers are processes of this machine.
   */
  findProcess?(key: string): Promise<number | undefined>;
  /** What the machines have built in where `options` place a container, as far as it is known, once it is open. */
  models?(options: Launch['options']): HardwareModels;
  /** What users should know of how it works on this machine, once it is open. */
  warnings?(): readonly string[];
  /** Stops reporting and frees connections. Containers run on. */
  close(): Promise<void>;
}

/** Names by the makers; absent where they are not known, or the machines differ. */
export interface HardwareModels {
  readonly cpu?: string;
  readonly gpu?: string;
}

export interface LaunchOptions {
  readonly signal?: AbortSignal;
}

/** What to run. Everything is resolved: no `BAT_PORT_…` left in arguments, no volume IDs, no instance type names. */
export interface Launch {
  /** Unique over all time: the container's ID and its creation, `[a-z0-9-]+`, at most 120 characters. Name and label things with it. */
  readonly key: string;
  /** The boot of the service's machine in which the key was made; absent where that is unknown. */
  readonly bootID?: string;
  readonly containerID: string;
  readonly clusterID: string;
  readonly accountID: string;
  readonly image?: string;
  /** Empty where the image's own command shall run. */
  readonly command: readonly string[];
  /** The whole environment given by user and service; the engine adds only what its images need (`PATH`, `HOME`). */
  readonly env: Readonly<Record<string, string>>;
  /** Port name to assigned number, already in `env`. */
  readonly ports: Readonly<Record<string, number>>;
  readonly mounts: readonly Mount[];
  readonly limits: Limits;
  /** Absolute path of this container's own directory, existing, writable by the service, kept until purge. */
  readonly directory: string;
  /** Absolute path of the file that takes stdout and stderr in the order written; inside `directory`. */
  readonly logPath: string;
  /**
   * So many bytes the log may have, at least 1,000,000; absent: no limit. Of more output the beginning and the end are
   * kept, with a line between them; the command notices nothing.
   */
  readonly logLimitBytes?: number;
  /** What the cluster's configuration says of the instance type beyond its size: partition, QOS, runtime … */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A volume or a part of it, bound into the container. The engine must not let `subPath` leave `root`, also by symlinks. */
export interface Mount {
  /** Absolute path of the volume's root on the host. */
  readonly root: string;
  /** Beneath `root`, `''` for the whole volume; exists, made by the service. */
  readonly subPath: string;
  readonly kind: 'dir' | 'file';
  /** Absolute path inside the container. */
  readonly target: string;
  /**
   * The container cannot change what is mounted here, not through mounts inside it either, and cannot make it writable.
   * Mounts further in that are not read-only stay writable. Default false.
   */
  readonly readOnly?: boolean;
}

export interface Limits {
  readonly cores: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/** Where an engine reports. Reports for one key come in order; the same report may come twice. */
export interface EngineSink {
  report(key: string, observation: Observation): void;
}

/** What an engine has seen of a container. Times are milliseconds since the epoch. */
export type Observation =
  /** Not started yet; `reason` is for people (`pulling image`, `waiting for resources`). */
  | { readonly type: 'pending'; readonly reason: string }
  /** The first instruction has run or is about to. `host` is where its ports listen, for the proxy. */
  | {
      readonly type: 'running';
      readonly startedAt: number;
      readonly nodeID: string;
      readonly runID: string;
      readonly host: string;
    }
  /** The command has ended and its remains are being cleaned. */
  | { readonly type: 'exiting' }
  | { readonly type: 'ended'; readonly endedAt: number; readonly end: End }
  /** Only after `recover`: the engine has no trace of it and can prove that it never started. */
  | { readonly type: 'absent' };

/** How a container ended, with the evidence that there is. */
export type End =
  | { readonly kind: 'exited'; readonly exitCode: number; readonly signal?: string; readonly outOfMemory?: boolean }
  /** It could not be started for a reason of its own: no such image, no such command. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `stop` did it. */
  | { readonly kind: 'stopped' }
  /** The system below failed, or nothing is left to say how it ended. */
  | { readonly kind: 'fault'; readonly reason: string };

export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: 'REFUSED' | 'UNAVAILABLE';

  constructor(code: 'REFUSED' | 'UNAVAILABLE', message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
