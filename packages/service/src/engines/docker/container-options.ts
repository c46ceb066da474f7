import type { JobRequest, PULL_POLICIES } from '@sluice/client';
import { parseSize } from '@sluice/core';
import { checkAllowed, defined } from '../check-allowed.ts';
import { EngineError, type JobSource } from '../engine.ts';
import { type DockerConfig, dockerTypeSchema } from './docker-config.ts';

/** When an image is pulled: before each start, if the daemon does not have it, or not at all. */
export type PullPolicy = (typeof PULL_POLICIES)[number];

/** What a container gets beside its image, command and limits. */
export interface ContainerOptions {
  readonly shmSizeBytes?: number | undefined;
  readonly ulimits: NonNullable<NonNullable<JobRequest['docker']>['ulimits']>;
  /** As the daemon takes it; undefined: that of the image. */
  readonly user?: string | undefined;
  /** The container cannot become root by a program of its image. */
  readonly staysUser: boolean;
  readonly pull: PullPolicy;
  /** The GPUs of which the container gets some; undefined: the daemon chooses. */
  readonly gpuIDs?: readonly string[] | undefined;
}

/** The highest number of a user or group that daemons accept. */
const HIGHEST_ID = 2 ** 31 - 1;

/**
 * The options of a container: those of the cluster, replaced by those of its instance type, replaced by those of the step.
 * Throws `EngineError` `REJECTED` for what the step may not have.
 */
export function containerOptionsOf(
  config: DockerConfig,
  { options, job }: Pick<JobSource, 'options'> & { readonly job?: JobRequest | undefined },
): ContainerOptions {
  const configured = { ...config, ...defined(dockerTypeSchema.parse(options)) };
  const { shmSize, ulimits, user, pull } = job?.docker ?? {};
  const allowed = configured.allow ?? [];
  checkAllowed('docker', Object.keys(defined({ shmSize, ulimits, user })), allowed);
  const mayBeRoot = allowed.includes('root');
  if (user !== undefined) checkUser(user, mayBeRoot);
  const effective = user ?? configured.user;
  return {
    shmSizeBytes: shmSize ?? (configured.shmSize === undefined ? undefined : parseSize(configured.shmSize)),
    ulimits: { ...configured.ulimits, ...ulimits },
    user: effective,
    staysUser: effective !== undefined && !mayBeRoot && !isRoot(effective),
    pull: pull ?? configured.pull ?? 'missing',
    gpuIDs: configured.gpuIDs,
  };
}

/** The number of a user; undefined for a name, which only the image can resolve. */
export function uidOf(user: string): number | undefined {
  const [name = ''] = user.split(':');
  return /^\d+$/.test(name) ? Number(name) : undefined;
}

function isRoot(user: string): boolean {
  return uidOf(user) === 0 || /^root(?::|$)/.test(user);
}

function checkUser(user: string, mayBeRoot: boolean): void {
  if (user.split(':').some((id) => /^\d+$/.test(id) && Number(id) > HIGHEST_ID)) {
    throw reject(user, `a number of a user or group is at most ${HIGHEST_ID}`);
  }
  if (mayBeRoot || (uidOf(user) ?? 0) > 0) return;
  const why = isRoot(user) ? 'this user is root' : 'a name can belong to root in the image';
  const advice = "use a number above 0, or ask the administrator of the service to add root to 'allow'";
  throw reject(user, `${why}, which the cluster does not allow; ${advice}`);
}

function reject(user: string, why: string): EngineError {
  return new EngineError('REJECTED', `could not use 'docker.user' ${user} of the step: ${why}`);
}
