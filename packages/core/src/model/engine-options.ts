/** The limits that `ulimits` may name. Not those of scheduling, by which a container would take time from others. */
export const ULIMITS = [
  'core',
  'cpu',
  'data',
  'fsize',
  'memlock',
  'msgqueue',
  'nofile',
  'nproc',
  'sigpending',
  'stack',
] as const;

/** Options of containers on Docker and Podman, by the words that these have for them. */
export interface DockerOptions {
  /** Size of `/dev/shm`. It counts as memory of the container. Default: that of the engine, 64 MB. */
  readonly shmSizeBytes?: number;
  /** By the name of the limit, such as `nofile`. */
  readonly ulimits?: Readonly<Record<string, Ulimit>>;
  /** A number or a name that the image knows, each with an optional `:group`. Default: the user of the image. */
  readonly user?: string;
  /** When the image is pulled. Default: as the configuration of the cluster says, without it `missing`. */
  readonly pull?: PullPolicy;
}

/** When an image is pulled: before each start, if the machine does not have it, or not at all. */
export type PullPolicy = 'always' | 'missing' | 'never';

/** A limit of the kernel for each process, in the unit that the kernel has for it; -1: none. */
export interface Ulimit {
  readonly soft: number;
  readonly hard: number;
}

/**
 * Options of `sbatch`, by their names there; `mail` is an address that is notified of the end, `mpi` the plugin with which
 * `srun` starts several tasks.
 */
export interface SlurmOptions {
  readonly partition?: string;
  readonly qos?: string;
  readonly account?: string;
  readonly constraint?: string;
  readonly exclusive?: boolean;
  readonly licenses?: string;
  readonly reservation?: string;
  readonly gres?: string;
  readonly nodelist?: string;
  readonly exclude?: string;
  readonly mail?: string;
  readonly mpi?: string;
}
