import type { ContainerSpec, KnownContainerPhase } from '@sluice/client';
import type { Amount } from '../containers/capacity-queue.ts';
import type { Mount } from '../engines/engine.ts';

/** A container as the store keeps it. Times are milliseconds since the epoch. */
export interface ContainerRow {
  readonly id: string;
  readonly clusterID: string;
  readonly accountID: string;
  /** What the engine calls it; unique over all time, unlike the ID. Names its directory too. */
  readonly launchKey: string;
  /** The boot of the machine in which the launch key was made; absent where that is unknown. */
  readonly launchBootID?: string;
  /** As the client gave it. */
  readonly spec: ContainerSpec;
  /** What its instance type was when it was created. */
  readonly amount: Amount;
  /** Port name to number. */
  readonly ports: Readonly<Record<string, number>>;
  /** Port name to public host, for those exposed. */
  readonly hosts: Readonly<Record<string, string>>;
  readonly mounts: readonly RowMount[];
  readonly phase: KnownContainerPhase;
  readonly state: string;
  readonly createTime: number;
  readonly startTime?: number;
  readonly endTime?: number;
  readonly runID?: string;
  readonly nodeID?: string;
  /** Where its ports listen. */
  readonly host?: string;
  /** Deleted and invisible; its remains are being removed. */
  readonly deleted?: true;
}

/** A mount with the key of the volume's row, for which it counts as mounted. */
export interface RowMount extends Omit<Mount, 'root'> {
  readonly volumeKey: string;
  readonly volumeID: string;
}
