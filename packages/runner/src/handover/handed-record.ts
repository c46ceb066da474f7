import { FAILURE_CLASSES } from '@sluice/core';
import { MISS_REASONS, runOrder } from '@sluice/run';
import { z } from 'zod';
import { handedCell } from './handed-plan.ts';
import {
  cellKey,
  count,
  digest,
  identifier,
  json,
  list,
  MAX_ITEMS,
  map,
  name,
  optional,
  runId,
  serviceId,
  shortText,
  text,
  time,
} from './handed-values.ts';

const at = time;
const ofStep = { at, step: count };
const ofCell = { ...ofStep, cell: count };
const ofAttempt = { ...ofCell, attempt: z.int().min(1).max(1_000_000) };
const results = map(identifier, json, 1000);
const volumeName = z.string().regex(/^(|@?[a-z0-9-]{1,100})$/);

const outcome = z.discriminatedUnion('result', [
  z.strictObject({ result: z.literal('succeeded') }),
  z.strictObject({
    result: z.literal('failed'),
    class: z.enum(FAILURE_CLASSES),
    exitCode: optional(z.int()),
    message: text,
    permanent: optional(z.boolean()),
  }),
  z.strictObject({ result: z.literal('canceled') }),
]);

const event = z.discriminatedUnion('type', [
  // 0 stands for a run that has not started.
  z.strictObject({ type: z.literal('started'), at: time.min(1) }),
  z.strictObject({ type: z.literal('decided'), ...ofStep, cells: count }),
  z.strictObject({ type: z.literal('skipped'), ...ofStep }),
  z.strictObject({ type: z.literal('evaluationFailed'), ...ofStep, message: text }),
  z.strictObject({ type: z.literal('cacheHit'), ...ofCell }),
  z.strictObject({ type: z.literal('cacheMissed'), ...ofCell }),
  z.strictObject({ type: z.literal('submitted'), ...ofAttempt }),
  z.strictObject({ type: z.literal('pulling'), ...ofAttempt }),
  z.strictObject({
    type: z.literal('postponed'),
    ...ofAttempt,
    reason: z.enum(['quota', 'throttled', 'pool', 'volume', 'unavailable', 'storage', 'placement']),
    until: time,
    detail: optional(text),
  }),
  z.strictObject({ type: z.literal('capacityFreed'), ...ofAttempt }),
  z.strictObject({ type: z.literal('running'), ...ofAttempt, since: optional(time) }),
  z.strictObject({ type: z.literal('serviceReady'), ...ofAttempt }),
  z.strictObject({ type: z.literal('notReady'), ...ofAttempt, message: text }),
  z.strictObject({ type: z.literal('ended'), ...ofAttempt, outcome }),
  z.strictObject({ type: z.literal('published'), ...ofAttempt }),
  z.strictObject({ type: z.literal('approved'), ...ofStep, approved: z.boolean(), by: shortText }),
  z.strictObject({ type: z.literal('stuck'), at, message: text }),
  z.strictObject({ type: z.literal('tick'), at }),
  z.strictObject({ type: z.literal('cancelRequested'), at, by: shortText }),
]);

const container = z.strictObject({
  createTime: optional(shortText),
  runID: optional(shortText),
  ports: optional(map(name, z.strictObject({ port: optional(count), host: optional(shortText) }), 100)),
});

const cached = z.strictObject({
  ...{ runId, step: name, cell: cellKey, volumeID: serviceId },
  ...{ fingerprint: digest, siblings: digest, results },
});

const missed = z.strictObject({
  fingerprint: digest,
  components: list(z.strictObject({ name: shortText, value: text })),
  reason: z.enum(MISS_REASONS),
  latest: optional(runId),
});

const facts = z.strictObject({
  cells: optional(list(handedCell, MAX_ITEMS)),
  container: optional(container),
  times: optional(z.strictObject({ runningAt: optional(time), endedAt: optional(time) })),
  results: optional(results),
  cached: optional(cached),
  missed: optional(missed),
});

const limits = z.strictObject({
  clusters: optional(map(serviceId, count, 1000)),
  instanceTypes: optional(map(shortText, count, 1000)),
  mounts: optional(count),
  lostAfterMs: optional(time),
});

const run = z.strictObject({
  ...{ kind: z.literal('run'), format: z.literal(2), runId, pipeline: name, at, plannedTime: time },
  ...{ clusterID: serviceId, accountID: serviceId, baseDir: text },
  scheduler: z.strictObject({
    parallelism: count.min(1),
    durations: optional(map(name, time, MAX_ITEMS)),
    limits: optional(limits),
    checksInputs: optional(z.boolean()),
    seed: shortText,
  }),
  placement: optional(
    z.strictObject({
      accounts: map(serviceId, serviceId, 1000),
      choices: list(
        z.strictObject({ clusters: list(serviceId, 1000).min(1), instanceType: optional(text) }),
        MAX_ITEMS,
      ),
      ofStep: list(count, MAX_ITEMS),
    }),
  ),
  instanceSizes: list(
    z.strictObject({
      ...{ clusterID: serviceId, id: shortText, cpu: z.number(), memoryGB: z.number() },
      ...{ gpu: optional(z.number()), gpuModel: optional(shortText) },
    }),
  ),
  images: optional(map(serviceId, map(text, digest), 1000)),
  reuse: optional(z.strictObject({ runId, force: list(name) })),
  rerunOf: optional(runId),
  order: optional(runOrder),
});

/** All of a record of a journal. Whether its step exists depends on the plan. */
export const handedRecordSchema = z.discriminatedUnion('kind', [
  run,
  z.strictObject({
    kind: z.literal('adopted'),
    at,
    attempts: map(z.string().max(301), map(z.string().regex(/^\d{1,7}$/), serviceId), MAX_ITEMS),
  }),
  z.strictObject({
    ...{ kind: z.literal('opened'), at, epoch: count, host: shortText, pid: z.int().min(0) },
    boot: optional(z.strictObject({ id: shortText, uptimeMs: time })),
  }),
  z.strictObject({ kind: z.literal('event'), event, facts: optional(facts) }),
  z.strictObject({
    ...{ kind: z.literal('intent'), ...ofAttempt, id: serviceId, clusterID: serviceId },
    ...{ instanceType: shortText, spec: digest },
  }),
  z.strictObject({ kind: z.literal('cancelIntent'), ...ofAttempt, reason: shortText }),
  z.strictObject({
    ...{ kind: z.literal('log'), step: count, cell: count, attempt: ofAttempt.attempt, tail: list(text) },
    // It becomes a local path.
    file: optional(z.string().regex(/^logs\/[a-z0-9-]{1,250}\.log$/)),
  }),
  z.strictObject({
    ...{ kind: z.literal('transferred'), at, from: serviceId, to: serviceId, path: text },
    ...{ files: z.number().min(0), bytes: z.number().min(0) },
  }),
  z.strictObject({ kind: z.literal('inputState'), volumeID: serviceId, path: text, digest }),
  z.strictObject({
    kind: z.literal('volumes'),
    volumes: map(volumeName, z.strictObject({ volumeID: serviceId, path: text, digest: optional(digest) })),
  }),
  z.strictObject({
    ...{
      kind: z.literal('delivered'),
      at,
      outputs: map(identifier, text),
      undelivered: optional(map(identifier, text)),
    },
    kept: optional(map(identifier, z.strictObject({ directory: text, runId, deliveredAt: shortText }))),
    pending: optional(list(identifier)),
  }),
  z.strictObject({ kind: z.literal('notified'), at, index: count }),
  z.strictObject({ kind: z.literal('warning'), at, message: text, concerns: optional(z.enum(['service'])) }),
  z.strictObject({ kind: z.literal('finished'), at, status: z.enum(['succeeded', 'failed', 'canceled']) }),
]);
