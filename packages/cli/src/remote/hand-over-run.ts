import { createHash } from 'node:crypto';
import { isServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { readServerMark, runDirectory, type ServerMark, writeServerMark } from '@sluice/home';
import { unmarkHosted } from '@sluice/host';
import type { RunRefusal } from '@sluice/run';
import { detachRun, readHandOver } from '@sluice/runner';
import type { HandOverServer, RunFileName, RunServer, StartRequest } from '../connect/run-server.ts';
import { lockMark } from './lock-mark.ts';
import { recordRemoval } from './record-removal.ts';

/** A run and the server that is to execute it. */
export interface HandOverOptions {
  readonly home: string;
  readonly runId: string;
  readonly server: HandOverServer & Pick<RunServer, 'url' | 'scope'>;
  /** With which the user connects to the server. */
  readonly profile?: string | undefined;
  readonly secrets: (name: string) => string | undefined;
}

/** Why a run was not handed over. */
export interface HandOverRefusal {
  readonly message: string;
  /** Whether the run can be resumed here. Otherwise it is unknown whether the server executes it. */
  readonly isHere: boolean;
  /** Whether the server has executed the run to its end, and has removed it. */
  readonly hasEnded?: true;
  /** Of this home, if the process that executes the run does not leave it. */
  readonly refusal?: RunRefusal;
}

const PART_BYTES = 4 * 1024 * 1024;
const FILES: readonly RunFileName[] = ['plan.json', 'journal.ndjson'];
/** Attempts to send files: what the server has received of them may belong to another state of the run. */
const TRIES = 2;

/**
 * Has a server execute a run, whether a process of this home executes it now or none does. Returns the run's address in
 * the dashboard. It can be repeated after a crash at any point: before the first request, the mark says that the run
 * must not be executed here; the server starts it with the last one, and this home does nothing more with it.
 */
export function handOverRun(options: HandOverOptions): Promise<Result<string, HandOverRefusal>> {
  const { home, runId, server, profile } = options;
  const directory = runDirectory(home, runId);
  return lockMark(directory, async () => {
    const before = await readServerMark(directory);
    if (before?.state === 'hosted') return ok(before.runUrl ?? '');
    if (before?.state === 'handing-over' && before.service !== server.url) {
      return fail({ isHere: false, message: `it is being handed over to ${before.service}` });
    }
    const { clusterID: cluster, accountID: account } = server.scope;
    const place = { service: server.url, cluster, account, ...(profile !== undefined && { profile }), isOurs: true };
    await writeServerMark(directory, { ...place, state: 'handing-over' });
    const left = await detachRun({ home, runId });
    if (!left.ok) {
      await writeServerMark(directory, before);
      return fail({ isHere: true, message: left.error.message, refusal: left.error });
    }
    await unmarkHosted(home, runId);
    const sent = await send(options);
    if (sent.ok) await writeServerMark(directory, { ...place, runUrl: sent.value, state: 'hosted' });
    else if (sent.error.isHere) await writeServerMark(directory, before && release(before));
    return sent;
  });
}

function release(mark: ServerMark): ServerMark {
  return { ...mark, state: 'released' };
}

async function send({ home, runId, server, secrets }: HandOverOptions): Promise<Result<string, HandOverRefusal>> {
  const read = await readHandOver(home, runId);
  if (!read.ok) return fail({ isHere: true, message: read.error });
  const { files, secretNames, logins } = read.value;
  const values = secretNames.map((name) => [name, secrets(name)] as const);
  const missing = values.find(([, value]) => value === undefined)?.[0];
  if (missing !== undefined) return fail({ isHere: true, message: `the secret ${missing} is not set` });
  const request = {
    files: { 'plan.json': digest(files['plan.json']), 'journal.ndjson': digest(files['journal.ndjson']) },
    secrets: Object.fromEntries(values) as Record<string, string>,
    logins,
  };
  try {
    return ok(await sendAndStart(server, { runId, files, request }));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    if (await recordRemoval(home, runId, error)) return fail({ message: error.message, isHere: false, hasEnded: true });
    return fail({ message: error.message, isHere: isRefused(error) && (await isNotStarted(server, runId)) });
  }
}

interface Sending {
  readonly runId: string;
  readonly files: Readonly<Record<RunFileName, Uint8Array>>;
  readonly request: StartRequest;
}

async function sendAndStart(server: HandOverServer, { runId, files, request }: Sending): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      const staged = await server.staged(runId);
      for (const name of FILES) {
        const bytes = files[name];
        const start = staged[name] > bytes.length ? 0 : staged[name];
        for (let offset = start; offset < bytes.length; offset += PART_BYTES)
          await server.put(runId, { name, offset, bytes: bytes.subarray(offset, offset + PART_BYTES) });
      }
      return await server.start(runId, request);
    } catch (error) {
      const isOther = isServiceError(error) && (error.reason === 'FILES_DIFFER' || error.reason === 'FILES_MISSING');
      if (!isOther || tries >= TRIES) throw error;
    }
  }
}

const REFUSED = [
  ...(['PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION'] as const),
  ...(['INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'] as const),
];

/**
 * The server has replied that it does not do it, or that its disk is full. The reason RUN_EXISTS is about a run that is not
 * this one.
 */
function isRefused(error: unknown): boolean {
  if (isServiceError(error) && error.reason === 'STORE_FULL') return true;
  return isServiceError(error, ...REFUSED) && error.reason !== 'RUN_EXISTS';
}

/** A request of an earlier, killed command may still arrive: the server must not start the run with it. */
async function isNotStarted(server: HandOverServer, runId: string): Promise<boolean> {
  try {
    return (await server.release(runId)) === undefined;
  } catch (error) {
    if (isServiceError(error)) return false;
    throw error;
  }
}

function digest(bytes: Uint8Array): { readonly size: number; readonly sha256: string } {
  return { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
