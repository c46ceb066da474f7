import { hash } from 'node:crypto';
import {
  type ContainerSpec,
  FEATURES,
  type Feature,
  type InstanceType,
  SECRET_ENVS_LABEL,
  WRITABLE_MOUNTS_LABEL,
} from '@sluice/client';
import { fail, ok, type ResolvedContainer, type Resources, type Result, resolveContainer } from '@sluice/core';
import { createRunContext } from '@sluice/run';
import { createMounts } from '../data/create-mounts.ts';
import { wrapReadiness } from '../data/wrap-readiness.ts';
import { announcesFeature } from '../placement/announces-feature.ts';
import { chooseInstanceType } from '../placement/choose-instance-type.ts';
import { cannotRunTasks } from '../placement/describe-resources.ts';
import type { Attempt } from '../session/attempt.ts';
import { createLabels } from '../session/labels.ts';
import type { RunSession } from '../session/run-session.ts';
import { describeAttempt, describeTrace } from './describe-attempt.ts';
import { describeJob } from './describe-job.ts';
import { expectedDuration } from './expected-duration.ts';

/** The container of one attempt, resolved from the plan. */
export interface PreparedContainer {
  /** As the service receives it, except for the values of secrets. */
  readonly spec: ContainerSpec;
  readonly digest: string;
  /** From variable to the name of the secret that it contains. */
  readonly secrets: ResolvedContainer['secrets'];
}

/** What a container depends on in addition to its attempt. */
export interface PrepareOptions {
  /** Index into `retry.escalate`, -1 for the step's own instance type. */
  readonly escalationLevel: number;
  /** Of all clusters that the run uses. */
  readonly instanceTypes: readonly InstanceType[];
}

/** Resolves the container of an attempt. The error is a message for the user: no retry can help. */
export function prepareContainer(
  session: RunSession,
  attempt: Attempt,
  options: PrepareOptions,
): Result<PreparedContainer, string> {
  const { at, name } = attempt;
  const cell = session.facts.cells[at.step]?.[at.cell] ?? { key: '', matrix: {} };
  const context = createRunContext(session, at.attempt, at);
  const resolved = resolveContainer(session.plan, at.step, { cell, context });
  if (!resolved.ok) return resolved;
  const cluster = { instanceTypes: options.instanceTypes, clusterID: attempt.ref.clusterID };
  const { retry, resources, timeoutMs, queueTimeoutMs } = session.scheduler.values(at.step, at.cell);
  const escalated = retry.escalate[options.escalationLevel];
  const instanceType = findInstanceType(escalated ?? resolved.value.instanceType ?? resources, cluster);
  if (!instanceType.ok) return instanceType;
  const { tasks, docker, slurm } = session.plan.steps[at.step]!.step;
  if (tasks && !announcesFeature(FEATURES.multiNode, cluster)) return fail(cannotRunTasks(cluster.clusterID));
  const mounts = createMounts(session, attempt, resolved.value);
  if (!mounts.ok) return mounts;
  const { volumeMounts, writable } = mounts.value;
  const bare = createSpec(resolved.value, instanceType.value, volumeMounts);
  // Not a slice of all digits, which would keep them in memory.
  const digest = hash('sha256', JSON.stringify(bare), 'buffer').toString('hex', 0, 8);
  const announces = (feature: Feature) => announcesFeature(feature, cluster);
  const names = resolved.value.secrets.map(({ env }) => env);
  const isAsked = Object.keys(volumeMounts).length > 0 && announces(FEATURES.readOnlyMounts);
  // Not a literal that begins with `...bare`: see `omitUnknown`.
  const spec = Object.assign(bare, {
    envs: {
      ...(session.isTraced && describeTrace(attempt)),
      ...bare.envs,
      ...describeAttempt(attempt, { hasResults: resolved.value.results.length > 0 }),
    },
    labels: Object.assign(createLabels(name, { epoch: session.epoch, spec: digest, of: session.plan.pipeline }), {
      ...(names.length > 0 && announces(FEATURES.secretEnvs) && { [SECRET_ENVS_LABEL]: JSON.stringify(names) }),
      ...(isAsked && { [WRITABLE_MOUNTS_LABEL]: JSON.stringify(writable) }),
      ...describeJob(name, {
        pipeline: session.plan.pipeline.name,
        limits: { resources: [typeof escalated === 'string' ? undefined : escalated, resources], timeoutMs },
        expectedMs: expectedDuration(session, at),
        pullTimeMs: resolved.value.image === undefined ? undefined : shortest(timeoutMs, queueTimeoutMs),
        ...(tasks && { tasks }),
        docker,
        slurm,
        announces,
      }),
    }),
  });
  return ok({ spec, digest, secrets: resolved.value.secrets });
}

/** Adds the values of secrets to the container: only for the request, never stored. */
export function addSecrets(session: RunSession, prepared: PreparedContainer): Result<ContainerSpec, string> {
  if (prepared.secrets.length === 0) return ok(prepared.spec);
  const envs: Record<string, string> = { ...prepared.spec.envs };
  for (const { env, secret } of prepared.secrets) {
    const value = session.secrets(secret);
    if (value === undefined) return fail(`the secret ${secret} is not known to this runner`);
    envs[env] = value;
  }
  return ok({ ...prepared.spec, envs });
}

function createSpec(
  container: ResolvedContainer,
  instanceType: string,
  mounts: Readonly<Record<string, string>>,
): ContainerSpec {
  const ports = Object.entries(container.ports).map(([name, port]) => [name, port.https ? { https: {} } : {}] as const);
  return {
    instanceType,
    ...(container.image !== undefined && { image: container.image }),
    ...(container.command && { command: withReadiness(container.command, container.ready) }),
    ...(ports.length > 0 && { ports: Object.fromEntries(ports) }),
    ...(Object.keys(mounts).length > 0 && { volumeMounts: mounts }),
    ...(Object.keys(container.env).length > 0 && { envs: container.env }),
  };
}

function shortest(...times: readonly (number | undefined)[]): number | undefined {
  const limits = times.filter((time) => time !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function withReadiness(command: readonly string[], ready: readonly string[] | undefined): readonly string[] {
  return ready === undefined ? command : wrapReadiness(command, ready);
}

function findInstanceType(
  wanted: string | Resources | undefined,
  { instanceTypes, clusterID }: { readonly instanceTypes: readonly InstanceType[]; readonly clusterID: string },
): Result<string, string> {
  if (typeof wanted === 'string') return ok(wanted);
  const chosen = chooseInstanceType(
    instanceTypes.filter((type) => type.clusterID === clusterID),
    wanted,
  );
  if (chosen) return ok(chosen.id);
  return fail(`no instance type of cluster ${clusterID} has ${JSON.stringify(wanted ?? {})}`);
}
