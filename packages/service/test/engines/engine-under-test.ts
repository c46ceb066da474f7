import type { Engine } from '../../src/engines/engine.ts';

/**
 * What the contract needs to know of an engine. Where engines may differ there is a flag, and each flag is for a
 * difference that the documentation tells users of; all else is the same for all.
 */
export interface EngineUnderTest {
  /** Named in every launch; it must hold `sh` and coreutils. Left out where the engine runs without image. */
  readonly image?: string;
  /** `Launch.options` of every launch. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Where directories of containers and volumes are made; the engine's hosts must see it. Default: the temp directory. */
  readonly directory?: string;
  /** Who owns those directories. Default: this process's user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
  /**
   * Path of a module whose default export is the same as `create`: it is loaded into a process that is killed with -9.
   * `environment` is added to that process's.
   */
  readonly module: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** How long a report may take before a test gives up, in milliseconds. Default: 30 s. */
  readonly patienceMs?: number;
  /** Both streams in the order written; else each stream for itself. */
  readonly ordersStreams: boolean;
  /** Who opens the own output by name (`/dev/stdout`) adds to the log; else cuts it. */
  readonly pipesLog: boolean;
  /** Output is kept byte for byte; else what is no UTF-8 is replaced. */
  readonly keepsBytes: boolean;
  /** `tree`: all processes together, and told apart as `outOfMemory`; `process`: each for itself, ends as any failure. */
  readonly memoryLimit: 'tree' | 'process' | 'none';
  readonly coreLimit: boolean;
  /** So many mounts a container can have at least; the documentation names the bound of each engine. */
  readonly mounts: number;
  /** The root file system is read-only, and nothing of an earlier container is seen in `/tmp`. */
  readonly hostRoot: boolean;
  /** PID 1 shows the container nothing of itself, not even which files it holds. */
  readonly hidesInit: boolean;
  /** A command that does not exist is rejected; else it ends with 127. */
  readonly rejectsMissingCommand: boolean;
  /** Containers see the machine's processes and its shared memory. Default: they do not. */
  readonly sharesMachine?: true;
  /** Mount points are replaced in arguments, environment and scripts: no program sees one in a directory. Default: it does. */
  readonly rewritesPaths?: true;
  /** Has the feature `multi-node`. Default: it does not. */
  readonly startsTasks?: true;
  /** The tasks of a node have nothing in common. */
  readonly separatesTasks?: true;
  /** A link swapped in during the start leads nowhere; else the engine behind resolves the path once more by itself. */
  readonly holdsSwappedLinks: boolean;
}

/** What a rig needs to know of an engine, whether or not the contract is asked of it. */
export type RigSubject = Partial<Pick<EngineUnderTest, 'image' | 'options' | 'directory' | 'owner' | 'patienceMs'>>;

/** Makes the engine as a service would; nothing may happen before `open`. */
export type CreateEngine = () => Engine;
