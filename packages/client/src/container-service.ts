import type { VolumeFiles } from './volume-files.ts';
import type { Account } from './wire/account.ts';
import type { Container, ContainerListItem, ContainerSpec } from './wire/container.ts';
import type { ResolvedImage } from './wire/image.ts';
import type { InstanceType } from './wire/instance-type.ts';
import type { Volume, VolumeService } from './wire/volume.ts';

/** The location of a container or volume. Either part may be `-` where the endpoint allows a wildcard. */
export interface Scope {
  readonly clusterID: string;
  readonly accountID: string;
}

/** One container or volume. */
export interface Ref extends Scope {
  readonly id: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface PageOptions extends CallOptions {
  /** Items asked for at once; the service may give fewer. Default 100. */
  readonly pageSize?: number;
}

/** Endpoints 1 and 2, and our extension that resolves images. */
export interface Discovery {
  listAccounts(clusterID: string, options?: CallOptions): Promise<Account[]>;
  listInstanceTypes(clusterID: string, options?: CallOptions): Promise<InstanceType[]>;
  /**
   * The digest of what a container with this image would run now; undefined if the service cannot determine it. Call it
   * only for clusters that announce `image-digests`. An implementation without the extension omits it.
   */
  resolveImage?(scope: Scope, image: string, options?: CallOptions): Promise<ResolvedImage | undefined>;
}

/** Endpoints 7 to 12. */
export interface Containers {
  /**
   * Creates the container and sends the request once, without retries, because the caller decides what a lost
   * or unexpected reply means. `containerID` makes the call an idempotent claim of that ID.
   */
  create(scope: Scope, spec: ContainerSpec, options?: CallOptions & { containerID?: string }): Promise<Container>;
  get(ref: Ref, options?: CallOptions): Promise<Container>;
  /** All pages, as they arrive. Only containers that have not ended, unless `all`. */
  list(scope: Scope, options?: PageOptions & { all?: boolean }): AsyncIterable<ContainerListItem>;
  /** The output of the container; `tail`: number of last lines; `follow` ends when the container has ended and everything is sent. */
  logs(ref: Ref, options?: CallOptions & { tail?: number; follow?: boolean }): AsyncIterable<Uint8Array>;
  cancel(ref: Ref, options?: CallOptions): Promise<void>;
  delete(ref: Ref, options?: CallOptions): Promise<void>;
}

/** Endpoints 3 to 6, and the volume's files through its transfer service. */
export interface Volumes {
  /** `transfer` requests the transfer service; its password is only in this reply. */
  create(scope: Scope, options?: CallOptions & { volumeID?: string; transfer?: boolean }): Promise<Volume>;
  list(scope: Scope, options?: PageOptions): AsyncIterable<Volume>;
  delete(ref: Ref, options?: CallOptions & { force?: boolean }): Promise<void>;
  undelete(ref: Ref, options?: CallOptions): Promise<void>;
  /** The files behind a login that `create` returned. Cheap; nothing is sent before the first use. */
  files(ref: Ref, login: VolumeService): VolumeFiles;
}

/** A hint that something about a container has changed: look now. Never the source of a verdict. */
export interface ChangeHint {
  readonly clusterID: string;
  readonly accountID: string;
  readonly containerID: string;
}

/** Any service that implements v1rc1: over HTTP, over a unix socket, or embedded in this process. */
export interface ContainerService {
  readonly discovery: Discovery;
  readonly containers: Containers;
  readonly volumes: Volumes;
  /**
   * Calls `listener` for each change that the implementation detects, until the returned function is called. An
   * implementation without notifications returns `undefined` and never calls `listener`: poll instead.
   */
  watch(listener: (hint: ChangeHint) => void): (() => void) | undefined;
  /** Closes connections; containers keep running. */
  close(): Promise<void>;
}
