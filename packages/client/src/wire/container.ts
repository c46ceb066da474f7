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
export type KnownContainerPhase = (typeof CONTAINER_PHASES)[number];

/** The phases that a container never leaves. A phase that no table lists is not among them. */
const TERMINAL_CONTAINER_PHASES: ReadonlySet<string> = new Set<KnownContainerPhase>([
  'Succeeded',
  'Failed',
  'Unknown',
  'Canceled',
]);

/** Whether the container has ended; unknown phases have not. */
export function isTerminalPhase(phase: string): boolean {
  return TERMINAL_CONTAINER_PHASES.has(phase);
}

/** A named port: `https` asks for a public HTTPS service; `port` and `https.host` are set by the service. */
export const portSchema = z.looseObject({
  port: z.number().optional(),
  https: z.looseObject({ host: z.string().optional() }).optional(),
});
export type Port = z.infer<typeof portSchema>;

/** What a client gives to create a container (protocol, "Container"). */
export interface ContainerSpec {
  readonly instanceType: string;
  readonly image?: string;
  readonly command?: readonly string[];
  /** Port name to port; `https: {}` exposes it. */
  readonly ports?: Readonly<Record<string, { readonly https?: Readonly<Record<string, never>> }>>;
  /** `<volumeID>[:<subPath>[:dir|file]]` to the mount point inside the container. */
  readonly volumeMounts?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly envs?: Readonly<Record<string, string>>;
}

/** A container as created or got. Times are ISO 8601, `runTime` is in seconds. */
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
export type Container = z.infer<typeof containerSchema>;

/** An entry of the container list: exactly the fields that the protocol names. */
export const containerListItemSchema = z.looseObject({
  id: boundedName,
  clusterID: boundedName,
  accountID: boundedName,
  image: z.string().optional(),
  phase: boundedName.optional(),
  state: z.string().optional(),
  createTime: z.string().optional(),
});
export type ContainerListItem = z.infer<typeof containerListItemSchema>;

/** Reply of endpoint 9. */
export const containerPageSchema = z.looseObject({
  containers: z.array(containerListItemSchema),
  nextPageToken: z.string().nullish(),
});
