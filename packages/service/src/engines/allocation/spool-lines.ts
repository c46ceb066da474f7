import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { End, Launch, Observation } from '../engine.ts';

const key = z.string().regex(/^[a-z0-9-]{1,120}$/);
const path = z.string().max(4096).refine(isAbsolute, 'must be an absolute path');
const count = z
  .number()
  .min(0)
  .max(2 ** 53);
const reason = z.string().max(8192);

/** What the agent of an allocation needs of a `Launch`. */
const launchSchema = z.strictObject({
  key,
  bootId: z.string().max(100).exactOptional(),
  containerID: z.string().max(1000),
  clusterID: z.string().max(1000),
  accountID: z.string().max(1000),
  image: z.string().max(4096).exactOptional(),
  command: z.array(z.string()),
  env: z.record(z.string(), z.string()),
  ports: z.record(z.string(), z.int()),
  mounts: z.array(
    z.strictObject({
      root: path,
      subPath: z.string().max(4096),
      kind: z.enum(['dir', 'file']),
      target: path,
      readOnly: z.boolean().exactOptional(),
    }),
  ),
  limits: z.strictObject({ cores: count, memoryBytes: count, gpus: count }),
  directory: path,
  logPath: path,
  logLimitBytes: count.exactOptional(),
  options: z.strictObject({}),
});
/** A container for an allocation; everything is as in `Launch`, without what only Slurm needs. */
export type OrderedLaunch = z.infer<typeof launchSchema>;

/** `needMs`: the container is not started when less than that is left of the allocation. */
const launchOrder = z.strictObject({ type: z.literal('launch'), launch: launchSchema, needMs: count.exactOptional() });
/** The order to run a container. */
export type LaunchOrder = z.infer<typeof launchOrder>;

/** What the service writes for the agent of an allocation, in order. */
const orderSchema = z.discriminatedUnion('type', [
  launchOrder,
  z.strictObject({ type: z.literal('stop'), key, graceMs: count }),
  /** Nothing more comes. */
  z.strictObject({ type: z.literal('end') }),
]);
/** One line for the agent. */
export type Order = z.infer<typeof orderSchema>;

const endSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('exited'),
    exitCode: z.int().min(0).max(255),
    signal: z.string().max(20).exactOptional(),
    outOfMemory: z.boolean().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('rejected'), reason }),
  z.strictObject({ kind: z.literal('stopped') }),
  z.strictObject({ kind: z.literal('fault'), reason }),
]) satisfies z.ZodType<End>;

const runningSchema = z.strictObject({ type: z.literal('running'), startedAt: count, runID: z.string().max(200) });
/** That a container runs. */
export type RunningObservation = z.infer<typeof runningSchema>;
/** How a container has ended. */
export const endedSchema = z.strictObject({ type: z.literal('ended'), endedAt: count, end: endSchema });
/** That it has ended, and how. */
export type EndedObservation = z.infer<typeof endedSchema>;
const observationSchema = z.discriminatedUnion('type', [
  runningSchema,
  z.strictObject({ type: z.literal('exiting') }),
  endedSchema,
]);
/** An observation of the agent. Node and address are not its own to say: Slurm tells them. */
export type AgentObservation = z.infer<typeof observationSchema>;

/** What the agent of an allocation writes for the service, in order. */
const reportSchema = z.discriminatedUnion('type', [
  /** An agent has begun, with so much for containers. `at`: when, by the clock of the node. */
  z.strictObject({ type: z.literal('ready'), cores: count, memoryBytes: count, gpus: count.default(0), at: count }),
  /** It is still there. */
  z.strictObject({ type: z.literal('alive') }),
  z.strictObject({ type: z.literal('seen'), key, observation: observationSchema }),
  /** The container was not started, and this allocation starts it no more. */
  z.strictObject({ type: z.literal('returned'), key, reason }),
  /** It begins nothing more. `toldAt`: when the allocation was ended, by the clock of the node. */
  z.strictObject({ type: z.literal('leaving'), reason, toldAt: count.exactOptional() }),
]);
/** One line of the agent. */
export type Report = z.infer<typeof reportSchema>;

/** The order for a container. Environment and command are as long as the kernel allows. */
export function orderLaunch(launch: Launch, needMs: number | undefined): LaunchOrder {
  const { job: _job, ...rest } = launch;
  const copy = { ...rest, options: {} } as OrderedLaunch;
  return { type: 'launch', launch: copy, ...(needMs !== undefined && { needMs }) };
}

/** Undefined for a line that is not an order: an agent ignores it, since another version of the service may have written it. */
export function parseOrder(line: string): Order | undefined {
  return parseLine(orderSchema, line);
}

/** Undefined for a line that is not a report, for example one that a killed agent wrote in part. */
export function parseReport(line: string): Report | undefined {
  return parseLine(reportSchema, line);
}

/** With its line break. */
export function renderLine(value: Order | Report): string {
  return `${JSON.stringify(value)}\n`;
}

/** The observation that an agent writes of one of its engine; undefined for one that is not for the service. */
export function toReport(observation: Observation): AgentObservation | undefined {
  switch (observation.type) {
    case 'running':
      return { type: 'running', startedAt: observation.startedAt, runID: observation.runID };
    case 'exiting':
      return observation;
    case 'ended':
      return endedSchema.parse(observation);
    default:
      return undefined;
  }
}

function parseLine<T>(schema: z.ZodType<T>, line: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
