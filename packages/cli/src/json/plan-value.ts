import { FAILURE_CLASSES } from '@sluice/core';
import { image } from '@sluice/run';
import { z } from 'zod';

/** A value of a parameter, an axis or an item. */
const json = z.unknown();

const resources = z.strictObject({
  cpu: z.number().exactOptional(),
  memoryBytes: z.number().exactOptional(),
  gpu: z.number().exactOptional(),
  gpuModel: z.string().exactOptional(),
  timeMs: z.int().exactOptional(),
});

const retry = z.strictObject({
  limit: z.int(),
  on: z.array(z.enum(FAILURE_CLASSES)).readonly(),
  exitCodes: z.array(z.int()).readonly().exactOptional(),
  backoff: z.strictObject({ initialMs: z.number(), factor: z.number(), maxMs: z.number() }),
  escalate: z.array(z.union([z.string(), resources])).readonly(),
  infrastructure: z.int(),
});

const cells = z
  .array(
    z.strictObject({
      cell: z.string().describe('empty for a plain step'),
      axes: z.record(z.string(), z.string()).readonly().exactOptional().describe('the keys of its items'),
      matrix: z.record(z.string(), json).readonly().exactOptional(),
      item: json.exactOptional(),
      timeoutMs: z
        .int()
        .exactOptional()
        .describe('this and the following ones: of a step with expressions for its cells'),
      queueTimeoutMs: z.int().exactOptional(),
      deadlineMs: z.int().exactOptional(),
      priority: z.int().exactOptional(),
      resources: resources.exactOptional(),
      retry: retry.exactOptional(),
      pools: z.record(z.string(), z.int()).readonly().exactOptional(),
      instanceType: z.string().exactOptional(),
      clusterIds: z
        .array(z.string())
        .readonly()
        .exactOptional()
        .describe('best first; of a step whose cells have different ones, which has no `clusterIds` itself'),
    }),
  )
  .readonly();

const step = z.strictObject({
  step: z.string(),
  final: z.boolean().describe('belongs to `finally`'),
  level: z.int().min(0).describe('the longest distance from a step without dependencies'),
  needs: z
    .array(
      z.strictObject({
        step: z.string(),
        condition: z.string(),
        data: z.boolean().describe('mounts an output'),
        input: z.string().exactOptional().describe('the input with rules of its own that mounts it'),
      }),
    )
    .readonly(),
  cellCount: z.int().min(0).exactOptional().describe('absent: known only during the run'),
  cells: cells
    .exactOptional()
    .describe('absent for `foreach` and with `lists`, whose items are known only during the run'),
  lists: z
    .strictObject({
      axis: z.string(),
      step: z.string().describe('the step that lists the items of the axis'),
      count: z.int().min(0).describe('one list for each cell of that step'),
    })
    .exactOptional()
    .describe('of a step over an axis whose items another step lists: its cells are known when that step has ended'),
  lateValues: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe('keys of which each cell gets its value during the run'),
  cache: z.boolean(),
  instanceType: z.string().exactOptional().describe('named by the step, else chosen'),
  tasks: z
    .strictObject({ nodes: z.int().min(1), perNode: z.int().min(1) })
    .exactOptional()
    .describe('of a step whose command is started several times at once; `instanceType` is that of one task'),
  resources: resources.exactOptional().describe('what the step requests'),
  clusterIds: z
    .array(z.string())
    .readonly()
    .exactOptional()
    .describe('best first; absent: no cluster fits, or its cells have different ones'),
  reuse: z
    .strictObject({
      reused: z.int().min(0).describe('cells whose results would be reused'),
      skipped: z.int().min(0),
      message: z.string().exactOptional().describe('why other cells would run'),
    })
    .exactOptional(),
});

/** What `sluice plan` prints. */
export const planValue = z
  .strictObject({
    file: z.string().describe('as given'),
    pipeline: z.string(),
    params: z.record(z.string(), json).readonly(),
    clusterId: z.string().describe('the default for steps without a placement'),
    steps: z.array(step).readonly(),
    images: z.array(image).readonly().exactOptional().describe('absent if no service was asked'),
    reuseFrom: z.string().exactOptional().describe('the ID of the run whose steps would be reused'),
  })
  .describe('What a run would do.');
