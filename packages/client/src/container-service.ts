import type { VolumeFiles } from './volume-files.ts';
import type { Account } from './wire/account.ts';
import type { Container, ContainerListItem, ContainerSpec } from './wire/container.ts';
import type { ResolvedImage } from './wire/image.ts';
import type { InstanceType } from './wire/instance-type.ts';
import type { Volume, VolumeService } from './wire/volume.ts';

/** The location of a container or volume. Either part may be `-` where the endpoint allows a wildcard. */
export interface Scope {
  /** ID of a cluster, or `-` for all clusters. */
  readonly clusterID: string;
  /** ID of an account, or `-` for all accounts. */
  readonly accountID: string;
}

/** Identifies one container or volume. */
export interface Ref extends Scope {
  /** Unique within its cluster and account. */
  readonly id: string;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborting it rejects the call with `ABORTED`; the service may have acted nevertheless. */
  readonly signal?: AbortSignal;
}

/** Options of calls that return pages. */
export interface PageOptions extends CallOptions {
  /** Items per request; the service may return fewer. Default 100. */
  readonly pageSize?: number;
}

/** Options for resolving an image. */
export interface ResolveOptions extends CallOptions {
  /**
   * As the registry has it now, even if the machine has another one of this name. Only for clusters that announce
   * `docker-options`. Default: false.
   */
  readonly fresh?: boolean;
}

/** Endpoints 1 and 2 of the protocol, and the extension that resolves images. */
export interface Discovery {
  /** The accounts that the user may use; `clusterID` may be `-`. */
  listAccounts(clusterID: string, options?: CallOptions): Promise<Account[]>;
  /** The instance types of a cluster, or with `-` of all clusters. */
  listInstanceTypes(clusterID: string, options?: CallOptions): Promise<InstanceType[]>;
  /**
   * The digest that a container with this image would run now; undefined if the service cannot determine it. Call it
   * only for clusters that announce `image-digests`. An implementation without the extension omits the method.
   */
  resolveImage?(scope: Scope, image: string, options?: ResolveOptions): Promise<ResolvedImage | undefined>;
}

/** The last place where a service has left out a part of a log that has reached its limit. */
export interface LogCut {
  /** The first byte that differs from what was read before the cut: there the log says that a part was left out. */
  readonly start: number;
  /** Another one for each cut of a log. */
  readonly id: string;
}

/** The log of a container at one moment. */
export interface LogFile {
  /** In bytes. */
  readonly size: number;
  /** Undefined if it was not cut, or the service does not say. */
  readonly cut?: LogCut | undefined;
  /** The bytes from `start` to before `end`, or to the present end; with `follow`, to the end of the container. */
  read(range: {
    readonly start: number;
    readonly end?: number | undefined;
    readonly follow?: boolean | undefined;
    readonly signal?: AbortSignal | undefined;
  }): AsyncIterable<Uint8Array>;
}

/** Endpoints 7 to 12 of the protocol. */
export interface Containers {
  /**
   * Creates a container. The request is sent once, without retries, because the caller decides what a lost or
   * unexpected reply means. `containerID` makes the call an idempotent claim of that ID.
   */
  create(scope: Scope, spec: ContainerSpec, options?: CallOptions & { containerID?: string }): Promise<Container>;
  /** Throws `NOT_FOUND` if the container does not exist or was deleted. */
  get(ref: Ref, options?: CallOptions): Promise<Container>;
  /** The containers of all pages, fetched as they are consumed. Only containers that have not ended, unless `all`. */
  list(scope: Scope, options?: PageOptions & { all?: boolean }): AsyncIterable<ContainerListItem>;
  /**
   * The output of the container. `tail` is a number of last lines; with `follow`, the stream ends when the container
   * has ended and all output was sent. `onCut` is called before the first byte, and after a broken connection: if the log
   * was cut meanwhile, and bytes beyond the cut were yielded before, the stream continues at its `start`.
   */
  logs(
    ref: Ref,
    options?: CallOptions & { tail?: number; follow?: boolean; onCut?: (cut: LogCut | undefined) => void },
  ): AsyncIterable<Uint8Array>;
  /**
   * The log as a file that can be read from any place; undefined if the service sends logs only from their beginning, as the
   * protocol says. An implementation that never can omits the method.
   */
  openLog?(ref: Ref, options?: CallOptions): Promise<LogFile | undefined>;
  /** Requests the end of a container. It may still run when the call returns. */
  cancel(ref: Ref, options?: CallOptions): Promise<void>;
  /** Removes a container in any phase, with its log but not its volumes. Afterwards, its ID can be used again. */
  delete(ref: Ref, options?: CallOptions): Promise<void>;
}

/** Endpoints 3 to 6 of the protocol, and the files of a volume through its transfer service. */
export interface Volumes {
  /** Creates a volume. `transfer` requests a login for the transfer service; its password is only in this reply. */
  create(scope: Scope, options?: CallOptions & { volumeID?: string; transfer?: boolean }): Promise<Volume>;
  /** The volumes of all pages, fetched as they are consumed. */
  list(scope: Scope, options?: PageOptions): AsyncIterable<Volume>;
  /** Deletes a volume. It can be restored for seven days, unless `force`. */
  delete(ref: Ref, options?: CallOptions & { force?: boolean }): Promise<void>;
  /** Restores a volume that was deleted without `force`. */
  undelete(ref: Ref, options?: CallOptions): Promise<void>;
  /** The files of a volume, with a login that `create` returned. Sends nothing before the first use. */
  files(ref: Ref, login: VolumeService): VolumeFiles;
}

/** Reports that a container may have changed. It is a reason to read its state, not the state itself. */
export interface ChangeHint {
  readonly clusterID: string;
  readonly accountID: string;
  /** May name a container that the caller does not know. */
  readonly containerID: string;
}

/**
 * A service that implements v1rc1: over HTTP, over a unix socket, or embedded in this process. Its methods throw
 * `ServiceError`.
 */
export interface ContainerService {
  readonly discovery: Discovery;
  readonly containers: Containers;
  readonly volumes: Volumes;
  /**
   * Calls `listener` for each change that the implementation detects, until the returned function is called. An
   * implementation without notifications returns `undefined` and never calls `listener`; the caller must poll.
   */
  watch(listener: (hint: ChangeHint) => void): (() => void) | undefined;
  /**
   * Calls `listener` once, until the returned function is called, if this process can no longer use the service and another
   * one must open it, such as the embedded service whose store has failed. Absent: that cannot happen.
   */
  onFailure?(listener: (error: Error) => void): () => void;
  /** Closes connections; containers keep running. */
  close(): Promise<void>;
}
