import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from '@sluice/host-system';
import type { ControlListener } from './disk.ts';
import {
  answersPath,
  type FileAnswer,
  type FileRequest,
  parseRequests,
  REQUEST_POINTER,
  removeUnlessTaken,
  requestsPath,
  takenPath,
  takeRequest,
} from './request-directory.ts';

const PAUSE_MS = 1000;
/** A claim is not held for longer than this because the answer to a request is not written. */
const CLOSE_MS = 1000;

/** Takes requests of other machines for the holder of a claim. */
export interface RequestServer {
  /** Takes no more requests. Called before the claim is released. */
  close(): Promise<void>;
}

/**
 * Takes requests as files, which processes of other machines send on a shared file system (`sendRequest`), and answers them.
 * Each file is opened for every read: NFS shows what other machines have written only to those who open a file after it. Does
 * not keep the process alive. Undefined if the files cannot be created: other machines then cannot reach the holder.
 */
export async function serveRequests(directory: string, listener: ControlListener): Promise<RequestServer | undefined> {
  const name = `${REQUEST_POINTER}-${randomBytes(8).toString('hex')}`;
  const requests = path.join(directory, name);
  try {
    await mkdir(requests, { mode: 0o700 });
    for (const file of [requestsPath(requests), answersPath(requests)])
      await writeFile(file, '', { flag: 'wx', mode: 0o600 });
    await replaceFile(path.join(directory, REQUEST_POINTER), name);
  } catch {
    await rm(requests, { recursive: true, force: true }).catch(() => undefined);
    return undefined;
  }
  return serve(directory, { requests, listener });
}

function serve(
  directory: string,
  { requests, listener }: { readonly requests: string; readonly listener: ControlListener },
): RequestServer {
  const closing = new AbortController();
  const seen = new Set<string>();

  async function handle({ id, line }: FileRequest): Promise<void> {
    if (seen.has(id) || closing.signal.aborted) return;
    const isTaken = await takeRequest(requests, id);
    seen.add(id);
    // Withdrawn: its sender needs the file no longer.
    if (!isTaken) return await rm(takenPath(requests, id), { force: true });
    const answer: FileAnswer = { id, answer: await answerTo(line, listener) };
    await appendFile(answersPath(requests), `${JSON.stringify(answer)}\n`);
  }

  async function work(): Promise<void> {
    for (;;) {
      await delay(PAUSE_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined);
      if (closing.signal.aborted) return;
      // A file system that does not answer now is asked again.
      const text = await readFile(requestsPath(requests), 'utf8').catch(() => '');
      for (const request of parseRequests(text)) await handle(request).catch(() => undefined);
    }
  }

  const worked = work();
  return {
    async close() {
      closing.abort();
      const waiting = new AbortController();
      const limit = delay(CLOSE_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
      await Promise.race([worked, limit]);
      waiting.abort();
      await rm(path.join(directory, REQUEST_POINTER), { force: true }).catch(() => undefined);
      await removeUnlessTaken(requests);
    },
  };
}

/** A request is taken only while its sender waits. */
async function answerTo(line: string, listener: ControlListener): Promise<string> {
  try {
    return await listener(line, { isAwaited: true });
  } catch (error) {
    return `it is not known whether the request was carried out: ${(error as Error).message}`;
  }
}
