import type { ContainerService, Scope } from '@sluice/client';
import type { RunHost } from '../execute/open-run-host.ts';
import type { LimitCheck } from './account-limits.ts';
import type { PlanOrder } from './plan-order.ts';
import type { SecretStore } from './secret-store.ts';

/** What starting the runs of an account depends on. */
export interface OrderParts {
  readonly home: string;
  readonly scope: Scope;
  /** Acts as the account. */
  readonly service: ContainerService;
  readonly host: Pick<RunHost, 'take'>;
  readonly limits: LimitCheck;
  /** Why no file of a run may be created on the disk of the server; undefined if one may. */
  readonly findInodeShortage: () => Promise<string | undefined>;
  readonly secrets: SecretStore;
  readonly planOrder: PlanOrder;
}
