import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isSystemError } from '@sluice/host-system';
import {
  answersPath,
  type FileRequest,
  findRequestDirectory,
  parseAnswers,
  removeUnlessTaken,
  requestsPath,
  takenPath,
  takeRequest,
} from './request-directory.ts';

const PAUSE_MS = 100;
/** The holder looks once a second; shared file systems show changes later. */
const WAIT_MS = { taken: 15_000, answered: 15_000 };

/**
 * The outcome of a request. `withdrawn`: the holder has not taken it in time, and never will. `unanswered`: it has, and may
 * still carry it out. `gone`: it has left the claim without taking it.
 */
export type SentOutcome =
  | { readonly kind: 'answered'; readonly answer: string }
  | { readonly kind: 'withdrawn' | 'unanswered' | 'gone' };

/** Sends a request as a file to the holder of a directory's claim, on another machine. Undefined: it takes no files. */
export async function sendRequest(
  directory: string,
  line: string,
  waitMs: typeof WAIT_MS = WAIT_MS,
): Promise<SentOutcome | undefined> {
  const requests = await findRequestDirectory(directory);
  if (requests === undefined) return undefined;
  const id = randomBytes(16).toString('hex');
  // What fails here may have been sent all the same.
  let answer = await appendRequest(requests, { id, line })
    .then(() => waitForAnswer(requests, id, waitMs.taken))
    .catch(() => undefined);
  if (answer === undefined) {
    const left = await withdraw(requests, id);
    if (left !== 'unanswered') return { kind: left };
    answer = await waitForAnswer(requests, id, waitMs.answered).catch(() => undefined);
  }
  if (answer === undefined) return { kind: 'unanswered' };
  await rm(takenPath(requests, id), { force: true }).catch(() => undefined);
  if ((await findRequestDirectory(directory)) !== requests) await removeUnlessTaken(requests);
  return { kind: 'answered', answer };
}

async function withdraw(requests: string, id: string): Promise<'withdrawn' | 'unanswered' | 'gone'> {
  try {
    return (await takeRequest(requests, id)) ? 'withdrawn' : 'unanswered';
  } catch (error) {
    return isSystemError(error, 'ENOENT') ? 'gone' : 'unanswered';
  }
}

/** Not created: its holder may have left. */
async function appendRequest(requests: string, request: FileRequest): Promise<void> {
  const handle = await open(requestsPath(requests), constants.O_WRONLY | constants.O_APPEND);
  try {
    await handle.appendFile(`${JSON.stringify(request)}\n`);
  } finally {
    await handle.close();
  }
}

async function waitForAnswer(requests: string, id: string, waitMs: number): Promise<string | undefined> {
  const until = performance.now() + waitMs;
  for (;;) {
    const answers = parseAnswers(await readFile(answersPath(requests), 'utf8'));
    const found = answers.find((answer) => answer.id === id);
    if (found !== undefined || performance.now() >= until) return found?.answer;
    await delay(PAUSE_MS);
  }
}
