import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { askHolder } from '../../src/journal/ask-holder.ts';
import { claimDirectory } from '../../src/journal/claim-directory.ts';
import { findRequestDirectory, requestsPath } from '../../src/journal/request-directory.ts';
import { sendRequest } from '../../src/journal/send-request.ts';
import { type RequestServer, serveRequests } from '../../src/journal/serve-requests.ts';

const SOON = { taken: 300, answered: 300 };

let directory: string;
let server: RequestServer | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-requests-'));
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const names = () => readdirSync(directory).filter((name) => name.startsWith('.requests'));

test('a request is answered once, by a holder that is told that its sender waits', async () => {
  const lines: unknown[] = [];
  server = await serveRequests(directory, (...given) => `answer ${lines.push(given)}`);
  const [first, second] = await Promise.all([sendRequest(directory, 'one'), sendRequest(directory, 'two')]);
  expect(lines.toSorted()).toEqual([
    ['one', { isAwaited: true }],
    ['two', { isAwaited: true }],
  ]);
  expect([first, second].map((sent) => sent?.kind === 'answered' && sent.answer).toSorted()).toEqual([
    'answer 1',
    'answer 2',
  ]);
  await server?.close();
  expect(names()).toEqual([]);
  expect(await sendRequest(directory, 'three')).toBeUndefined();
  expect(lines).toHaveLength(2);
});

test('a request that is not taken in time is withdrawn, and never carried out', async () => {
  const lines: string[] = [];
  let answerFirst: (answer: string) => void = () => undefined;
  const first = new Promise<string>((resolve) => {
    answerFirst = resolve;
  });
  server = await serveRequests(directory, (line) => (lines.push(line) === 1 ? first : 'ok'));
  const sent = sendRequest(directory, 'first');
  await vi.waitFor(() => expect(lines).toEqual(['first']), 5000);
  expect(await sendRequest(directory, 'second', SOON)).toEqual({ kind: 'withdrawn' });
  answerFirst('ok');
  expect(await sent).toEqual({ kind: 'answered', answer: 'ok' });
  expect(await sendRequest(directory, 'third')).toEqual({ kind: 'answered', answer: 'ok' });
  expect(lines).toEqual(['first', 'third']);
  await server?.close();
  expect(names()).toEqual([]);
});

test('a request whose holder does not answer may still be carried out', async () => {
  server = await serveRequests(directory, () => new Promise(() => undefined));
  expect(await sendRequest(directory, 'one', { taken: 3000, answered: 300 })).toEqual({ kind: 'unanswered' });
});

test('the answer is kept when its holder leaves at once, until the sender has it', async () => {
  let closed: Promise<void> | undefined;
  const leaving = await serveRequests(directory, () => {
    closed = leaving?.close();
    return 'ok';
  });
  expect(await sendRequest(directory, 'suspend')).toEqual({ kind: 'answered', answer: 'ok' });
  await closed;
  expect(names()).toEqual([]);
});

test('a request that a killed holder has not taken is gone when the next one has the claim', async () => {
  const name = `.requests-${'a'.repeat(16)}`;
  const requests = join(directory, name);
  mkdirSync(requests);
  for (const file of ['requests', 'answers']) writeFileSync(join(requests, file), '');
  writeFileSync(join(directory, '.requests'), name);
  const sent = sendRequest(directory, 'one');
  await vi.waitFor(() => expect(readFileSync(requestsPath(requests), 'utf8')).toContain('one'));
  const claim = await claimDirectory(directory, () => 'next');
  expect(await sent).toEqual({ kind: 'gone' });
  await claim?.release();
});

test('lines that are no request are ignored', async () => {
  const lines: string[] = [];
  server = await serveRequests(directory, (line) => `${lines.push(line)}`);
  const requests = (await findRequestDirectory(directory))!;
  const id = 'b'.repeat(32);
  const damaged = ['', 'x', '{}', { id, line: '' }, { id: '../b', line: 'x' }, { id, line: 'x', more: 1 }, { id: 'b' }];
  for (const line of damaged)
    appendFileSync(requestsPath(requests), `${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  appendFileSync(requestsPath(requests), `${JSON.stringify({ id, line: 'x'.repeat(4097) })}\n`);
  expect(await sendRequest(directory, 'good')).toEqual({ kind: 'answered', answer: '1' });
  expect(lines).toEqual(['good']);
});

test('the holder of a claim whose socket does not connect is asked by files, which only its user can read', async () => {
  vi.stubEnv('SLURM_JOB_ID', '7');
  const claim = await claimDirectory(directory, (line) => `heard ${line}`);
  // As on another machine, which sees the file of a socket that no process of its own has opened.
  rmSync(join(directory, '.control.sock'));
  expect(await askHolder(directory, '')).toBe('');
  expect(await askHolder(directory, 'hello')).toBe('heard hello');
  const requests = (await findRequestDirectory(directory))!;
  expect(statSync(requests).mode & 0o777).toBe(0o700);
  expect(statSync(requestsPath(requests)).mode & 0o777).toBe(0o600);
  await claim?.release();
  expect(await askHolder(directory, 'hello')).toBeUndefined();
  expect(names()).toEqual([]);
});

test('the next holder removes what a killed one has left, and takes files only where others may see them', async () => {
  await serveRequests(directory, () => 'killed');
  expect(names()).toHaveLength(2);
  const claim = await claimDirectory(directory, () => 'ok');
  expect(names()).toEqual([]);
  rmSync(join(directory, '.control.sock'));
  expect(await askHolder(directory, 'hello')).toBe('');
  await claim?.release();
  expect(existsSync(join(directory, '.lock'))).toBe(false);
});
