import type { ContainerService, Scope } from '@sluice/client';

/** A service, and the cluster and account to use on it. */
export interface OpenedService {
  readonly service: ContainerService;
  readonly scope: Scope;
  /** Releases what this process holds; containers keep running. */
  close(): Promise<void>;
}
