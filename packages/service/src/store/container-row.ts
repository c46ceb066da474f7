import type { ContainerSpec, KnownContainerPhase } from '@sluice/client';

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

/** How much of its cluster a container takes. */
export interface Amount {
  readonly cores: number;
  readonly memoryGB: number;
  readonly gpus: number;
}

/** A mount as an engine gets it, with its volume in place of the path on the host. */
export interface RowMount {
  /** The key of the volume's row, for which it counts as mounted. */
  readonly volumeKey: string;
  readonly volumeID: string;
  readonly subPath: string;
  readonly kind: 'dir' | 'file';
  readonly target: string;
  readonly readOnly?: boolean;
}
