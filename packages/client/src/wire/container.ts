import { z } from 'zod';
import { boundedName } from './bounded-name.ts';

/** Every phase of a container, in the order of the protocol's table. */
export const CONTAINER_PHASES = [
  'Creating',
  'Pending',
  'Running',
  'Exiting',
  'Succeeded',
  'Failed',
  'Unknown',
  'Canceling',
  'Canceled',
] as const;
/** A phase of the protocol's table; a service may report others. */
export type KnownContainerPhase = (typeof CONTAINER_PHASES)[number];

/** The final phases. Unknown phases are not among them. */
const TERMINAL_CONTAINER_PHASES: ReadonlySet<string> = new Set<KnownContainerPhase>([
  'Succeeded',
  'Failed',
  'Unknown',
  'Canceled',
]);

/** Whether a container in this phase has ended; unknown phases count as not ended. */
export function isTerminalPhase(phase: string): boolean {
  return TERMINAL_CONTAINER_PHASES.has(phase);
}

/** A named port: `https` requests a public HTTPS address; the service sets `port` and `https.host`. */
export const portSchema = z.looseObject({
  port: z.number().optional(),
  https: z.looseObject({ host: z.string().optional() }).optional(),
});
/** A port as the service reports it. */
export type Port = z.infer<typeof portSchema>;

/** The properties of a new container (protocol, "Container"). */
export interface ContainerSpec {
  /** ID of an instance type of the cluster. */
  readonly instanceType: string;
  /** Absent: services decide; `sluice serve` then uses the machine's own file system. */
  readonly image?: string;
  /** The argv. Absent: the image's own command. */
  readonly command?: readonly string[];
  /** By port name; `https: {}` requests a public address. */
  readonly ports?: Readonly<Record<string, { readonly https?: Readonly<Record<string, never>> }>>;
  /** By `<volumeID>[:<subPath>[:dir|file]]`: the mount point in the container. */
  readonly volumeMounts?: Readonly<Record<string, string>>;
  /** Have no effect on the service. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Environment variables, added to those of the image. */
  readonly envs?: Readonly<Record<string, string>>;
}

/** A container as `create` and `get` return it. Times are ISO 8601, `runTime` is in seconds. */
export const containerSchema = z.looseObject({
  id: boundedName,
  clusterID: boundedName,
  accountID: boundedName,
  instanceType: z.string().optional(),
  image: z.string().optional(),
  command: z.array(z.string()).optional(),
  ports: z.record(z.string(), portSchema).optional(),
  volumeMounts: z.record(z.string(), z.string()).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  envs: z.record(z.string(), z.string()).optional(),
  phase: boundedName.optional(),
  state: z.string().optional(),
  runID: z.string().optional(),
  nodeID: z.string().optional(),
  createTime: z.string().optional(),
  startTime: z.string().optional(),
  endTime: z.string().optional(),
  runTime: z.number().optional(),
});
/**
 * A container as `create` and `get` return it. Times are ISO 8601, `runTime` is in seconds; services may omit optional
 * fields.
 */
export type Container = z.infer<typeof containerSchema>;

/** An entry of the container list: only the fields that the protocol names. */
export const containerListItemSchema = z.looseObject({
  id: boundedName,
  clusterID: boundedName,
  accountID: boundedName,
  image: z.string().optional(),
  phase: boundedName.optional(),
  state: z.string().optional(),
  createTime: z.string().optional(),
});
/** A container as `list` returns it, without labels and mounts. */
export type ContainerListItem = z.infer<typeof containerListItemSchema>;

/** Reply of endpoint 9. */
export const containerPageSchema = z.looseObject({
  containers: z.array(containerListItemSchema),
  nextPageToken: z.string().nullish(),
});
