import type { ContainerSpec, KnownContainerPhase } from '@sluice/client';

/** A container as stored. Times are in milliseconds since the epoch. */
export interface ContainerRow {
  readonly id: string;
  readonly clusterID: string;
  readonly accountID: string;
  /** The engine's name for it, and the name of its directory. Never reused, unlike the ID. */
  readonly launchKey: string;
  /** The machine's boot in which the launch key was created; absent if unknown. */
  readonly launchBootId?: string;
  /** As the client gave it, without the variables in `sealedEnvs`. */
  readonly spec: ContainerSpec;
  /** The secret variables, encrypted. Absent: it has none, or it has ended. */
  readonly sealedEnvs?: string;
  /** The size of its instance type at creation. */
  readonly amount: Amount;
  /** The engine's options of its instance type at creation. */
  readonly options: Readonly<Record<string, unknown>>;
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
  /** The host on which its ports listen. */
  readonly host?: string;
  /** Deleted and no longer visible; its files are being removed. */
  readonly deleted?: true;
}

/** The part of a cluster's capacity that a container uses. */
export interface Amount {
  readonly cores: number;
  readonly memoryGB: number;
  readonly gpus: number;
}

/** A mount as stored. Engines get the volume's path on the host instead of its ID. */
export interface RowMount {
  /** The key of the volume's row; a volume counts as mounted while a live container has its key here. */
  readonly volumeKey: string;
  readonly volumeID: string;
  readonly subPath: string;
  readonly kind: 'dir' | 'file';
  readonly target: string;
  readonly readOnly?: boolean;
}
