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
import { sleep } from '../clock.ts';
import { withHomeLock } from '../journal/home-lock.ts';
import type { RunRefusal } from '../record/run-refusal.ts';
import { claimWorkspace, findLogin, type HomePlace, keepLogin, listWorkspaces, readHomeId } from './credentials.ts';

/** A pipeline's workspace volume, and the login to its files. */
export interface OpenWorkspace {
  readonly volumeID: string;
  readonly login: VolumeService;
}

export interface WorkspaceOptions extends HomePlace {
  readonly service: ContainerService;
  readonly scope: Scope;
  readonly pipeline: string;
  /** That one and no other, since a run has begun in it. */
  readonly volumeID?: string;
}

/** A volume whose reply was lost has a login that nobody knows: the next number is tried, so often at most. */
const MAX_TRIES = 5;
const AVAILABLE_WITHIN_MS = 10 * 60_000;
const POLL_MS = 1000;
const BACKOFF = { initialMs: 1000, maxMs: 8000 };

/** Opens the workspace of a pipeline on an account, and makes it where there is none. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Result<OpenWorkspace, RunRefusal>> {
  const { scope, pipeline, volumeID } = options;
  if (volumeID !== undefined) return openKnown(options, volumeID);
  const key = `${scope.clusterID}/${scope.accountID}/${pipeline}`;
  const known = await findAvailable(options, key);
  if (known) return ok(known);
  // Two runs that begin together share what the first one makes.
  return withHomeLock({ ...options, name: `workspace-${hash(key)}` }, async () => {
    const madeSince = await findAvailable(options, key);
    return madeSince ? ok(madeSince) : make(options, key);
  });
}

async function openKnown(options: WorkspaceOptions, volumeID: string): Promise<Result<OpenWorkspace, RunRefusal>> {
  const login = await findLogin(options, volumeID);
  const phase = login && (await awaitAvailable(options, volumeID));
  if (login && phase === 'Available') return ok({ volumeID, login });
  const message = `could not open workspace ${volumeID}, of this run: it is ${phase ?? 'not there'}`;
  return fail({ code: 'SERVICE_REFUSED', message });
}

async function findAvailable(options: WorkspaceOptions, key: string): Promise<OpenWorkspace | undefined> {
  const known = (await listWorkspaces(options)).filter((workspace) => workspace.key === key && workspace.login);
  const newest = known.at(-1);
  if (!newest?.login || (await awaitAvailable(options, newest.volumeID)) !== 'Available') return undefined;
  return { volumeID: newest.volumeID, login: newest.login };
}

async function make(options: WorkspaceOptions, key: string): Promise<Result<OpenWorkspace, RunRefusal>> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    // Behind a proxy, a service that is just being restarted looks like one whose replies are lost.
    if (tries > 0) await sleep(options.clock, backoffDelay(BACKOFF, tries));
    const made = await createNext(options, key);
    if (!made) continue;
    const phase = await awaitAvailable(options, made.volumeID);
    if (phase === 'Available') return ok(made);
    return fail({ code: 'SERVICE_REFUSED', message: `could not create workspace ${made.volumeID}: it is ${phase}` });
  }
  const message = `could not create a workspace for ${options.pipeline} in ${MAX_TRIES} tries`;
  return fail({ code: 'SERVICE_REFUSED', message });
}

/** Makes one volume under a name that was written down before. Undefined: its login is not to be had. */
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
  await keepLogin(options, claimed, login);
  return { volumeID, login };
}

function workspaceId(pipeline: string, unique: string, number: number): string {
  return `ws-${pipeline.slice(0, 30).replace(/-+$/, '')}-${hash(unique)}-${number}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** The volume's phase, once it is no longer on its way to Available; `undefined` where it is not there. */
async function awaitAvailable(options: WorkspaceOptions, volumeID: string): Promise<string | undefined> {
  const { clock } = options;
  for (const deadline = clock.now() + AVAILABLE_WITHIN_MS; ; ) {
    const phase = await readPhase(options, volumeID);
    const isOnItsWay = phase === 'Creating' || phase === 'Pending';
    if (!isOnItsWay || clock.now() >= deadline) return phase;
    await sleep(clock, POLL_MS);
  }
}

async function readPhase({ service, scope }: WorkspaceOptions, volumeID: string): Promise<string | undefined> {
  for await (const volume of service.volumes.list(scope)) if (volume.id === volumeID) return volume.phase;
  return undefined;
}
