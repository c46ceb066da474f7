import type { ContainerService, Scope } from '@sluice/client';

/** A service that a command may use, and the cluster and account that it works in. */
export interface OpenedService {
  readonly service: ContainerService;
  readonly scope: Scope;
  /** Frees what this process holds; containers run on. */
  close(): Promise<void>;
}
