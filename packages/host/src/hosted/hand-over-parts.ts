import type { ContainerService, Scope } from '@sluice/client';
import type { RunHost } from '../execute/open-run-host.ts';
import type { LimitCheck } from './account-limits.ts';
import type { SecretStore } from './secret-store.ts';

/** What receiving and releasing the runs of an account depends on. */
export interface HandOverParts {
  readonly home: string;
  readonly scope: Scope;
  /** Acts as the account. */
  readonly service: ContainerService;
  readonly host: Pick<RunHost, 'take' | 'leave'>;
  readonly limits: LimitCheck;
  /** Why no file of a run may be created on the disk of the server; undefined if one may. */
  readonly findInodeShortage: () => Promise<string | undefined>;
  readonly secrets: SecretStore;
  /** The time by which received files are removed; milliseconds since the Unix epoch. */
  readonly now: () => number;
}
