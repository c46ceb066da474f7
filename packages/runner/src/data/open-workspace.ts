import { createHash } from 'node:crypto';
import {
  backoffDelay,
  type ContainerService,
  isServiceError,
  type Scope,
  type Volume,
  type VolumeService,
} from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { type HomePlace, sleep, withHomeLock } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { claimWorkspace, findLogin, listWorkspaces, readHomeId, storeLogin } from './credentials.ts';

/** A pipeline's workspace volume, and the login to its files. */
export interface OpenWorkspace {
  readonly volumeID: string;
  readonly login: VolumeService;
}

/** The account and the pipeline of a workspace. */
export interface WorkspaceOptions extends HomePlace {
  readonly service: ContainerService;
  readonly scope: Scope;
  readonly pipeline: string;
  /** Open this volume, in which the run has started, and create none. */
  readonly volumeID?: string;
}

/** If the reply with a volume's login is lost, the volume is unusable, and the next number is tried, up to this many times. */
const MAX_TRIES = 5;
const AVAILABLE_WITHIN_MS = 10 * 60_000;
const POLL_MS = 1000;
const BACKOFF = { initialMs: 1000, maxMs: 8000 };

/** Opens the workspace of a pipeline on an account, or creates one. Throws `ServiceError`. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Result<OpenWorkspace, RunError>> {
  const { scope, pipeline, volumeID } = options;
  if (volumeID !== undefined) return openKnown(options, volumeID);
  const key = `${scope.clusterID}/${scope.accountID}/${pipeline}`;
  const known = await findAvailable(options, key);
  if (known) return ok(known);
  // Runs that start concurrently share the volume that the first one creates.
  return withHomeLock({ ...options, name: `workspace-${hash(key)}` }, async () => {
    const created = await findAvailable(options, key);
    return created ? ok(created) : create(options, key);
  });
}

async function openKnown(options: WorkspaceOptions, volumeID: string): Promise<Result<OpenWorkspace, RunError>> {
  const login = await findLogin(options, volumeID);
  const phase = login && (await awaitAvailable(options, volumeID));
  if (login && phase === 'Available') return ok({ volumeID, login });
  const message = `could not open workspace ${volumeID} of this run: it is ${phase ?? 'missing'}`;
  return fail({ code: 'SERVICE_REJECTED', message });
}

async function findAvailable(options: WorkspaceOptions, key: string): Promise<OpenWorkspace | undefined> {
  const known = (await listWorkspaces(options)).filter((workspace) => workspace.key === key && workspace.login);
  const newest = known.at(-1);
  if (!newest?.login || (await awaitAvailable(options, newest.volumeID)) !== 'Available') return undefined;
  return { volumeID: newest.volumeID, login: newest.login };
}

async function create(options: WorkspaceOptions, key: string): Promise<Result<OpenWorkspace, RunError>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // During a restart, a service behind a proxy looks like one whose replies are lost.
    if (tries > 0) await sleep(options.clock, backoffDelay(BACKOFF, tries));
    const created = await createNext(options, key);
    if (!created) continue;
    const phase = await awaitAvailable(options, created.volumeID);
    if (phase === 'Available') return ok(created);
    return fail({
      code: 'SERVICE_REJECTED',
      message: `could not create workspace ${created.volumeID}: it is ${phase}`,
    });
  }
  const message = `could not create a workspace for ${options.pipeline} in ${MAX_TRIES} tries`;
  return fail({ code: 'SERVICE_REJECTED', message });
}

/** Records a name and creates the volume. Undefined: its login is lost, or another process uses the name. */
async function createNext(options: WorkspaceOptions, key: string): Promise<OpenWorkspace | undefined> {
  const { service, scope, pipeline } = options;
  const last = (await listWorkspaces(options)).filter((workspace) => workspace.key === key).at(-1);
  const number = (last?.number ?? 0) + 1;
  const volumeID = workspaceId(pipeline, `${await readHomeId(options)}/${key}`, number);
  const claimed = { key, volumeID, number };
  if (!(await claimWorkspace(options, claimed))) return undefined;
  let volume: Volume;
  try {
    volume = await service.volumes.create(scope, { volumeID, transfer: true });
  } catch (error) {
    if (isServiceError(error, 'NO_REPLY', 'INVALID_REPLY', 'UNAVAILABLE', 'ALREADY_EXISTS')) return undefined;
    throw error;
  }
  const login = volume.service;
  if (volume.id !== volumeID || !login) return undefined;
  await storeLogin(options, claimed, login);
  return { volumeID, login };
}

function workspaceId(pipeline: string, unique: string, number: number): string {
  return `ws-${pipeline.slice(0, 30).replace(/-+$/, '')}-${hash(unique)}-${number}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Waits while the volume is being created. Returns its phase; undefined if it is absent. */
async function awaitAvailable(options: WorkspaceOptions, volumeID: string): Promise<string | undefined> {
  const { clock } = options;
  for (const deadline = clock.now() + AVAILABLE_WITHIN_MS; ; ) {
    const phase = await readPhase(options, volumeID);
    const isPending = phase === 'Creating' || phase === 'Pending';
    if (!isPending || clock.now() >= deadline) return phase;
    await sleep(clock, POLL_MS);
  }
}

async function readPhase({ service, scope }: WorkspaceOptions, volumeID: string): Promise<string | undefined> {
  for await (const volume of service.volumes.list(scope)) if (volume.id === volumeID) return volume.phase;
  return undefined;
}
