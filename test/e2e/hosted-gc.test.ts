import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainToken } from '@sluice/client';
import type { ActionReply } from '@sluice/host';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, until, type Workplace } from './workplace-rig.ts';

/** Its last step reads what `make` has written, as soon as the approval is given. */
const PIPELINE = `
version: 1
name: kept
volumes: { code: { source: code.txt } }
steps:
  make: { command: [cp, /in/code/code.txt, /out/text], inputs: { code: volumes.code }, outputs: { text: /out }, cache: true }
  gate: { approval: { message: go on }, needs: [make] }
  use: { command: [cat, /in/text/text, /in/code/code.txt], inputs: { text: make.text, code: volumes.code }, needs: [gate] }
`;

let place: Workplace;
let server: Server;
let at: readonly string[];

beforeAll(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  writeFileSync(join(place.directory, 'code.txt'), 'source\n');
  server = await serveNew(place);
  at = ['--service', server.url];
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: readonly string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;
const collect = () => sluice('gc', '--older-than', '0s', ...at);

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const login = { email: CREDENTIALS.SLUICE_EMAIL, password: CREDENTIALS.SLUICE_PASSWORD };
  const token = await obtainToken({ baseUrl: server.url, login });
  const reply = await fetch(`${server.url}/api/sluice/v1/clusters/main/accounts/physics${path}`, {
    ...{ method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } },
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await reply.json()) as T;
}

/** Waits on the server, so that the home learns nothing of it. */
async function untilAsked(runId: string): Promise<void> {
  const path = `/runs/${runId}/cells?status=awaitingApproval`;
  const isAsked = async () => ((await call<{ cells?: readonly unknown[] }>('GET', path)).cells ?? []).length > 0;
  await until(isAsked, 'the question');
}

async function detach(): Promise<string> {
  const { stdout, stderr } = await sluice('run', '--detach', '--json', ...at);
  expect(stderr).toBe('');
  return parseLines<{ runId: string }>(stdout).at(-1)!.runId;
}

async function finish(runId: string): Promise<void> {
  await untilAsked(runId);
  expect(await sluice('approve', '-r', runId, 'gate', ...at)).toMatchObject({ exitCode: 0 });
  const attached = await sluice('attach', runId, ...at);
  expect(attached, attached.stdout + attached.stderr).toMatchObject({ exitCode: 0 });
  expect((await sluice('logs', '-r', runId, 'use')).stdout).toBe('source\nsource\n');
}

test('sluice gc keeps what runs on a server reuse, although the home has older copies of them, or none', async () => {
  const first = await detach();
  await finish(first);
  const second = await detach();
  await untilAsked(second);
  const collected = await collect();
  expect(collected.stdout).toMatch(new RegExp(`^kept +run ${second} of kept +it is in progress$`, 'm'));
  expect(collected.stdout).toMatch(new RegExp(`^kept +run ${first} of kept +run ${second} on a server reuses`, 'm'));
  expect(collected).toMatchObject({ exitCode: 0, stderr: '' });
  await finish(second);

  const rerun = await call<ActionReply & { runId: string }>('POST', `/runs/${second}:rerun`, { from: ['use'] });
  await untilAsked(rerun.runId);
  const again = await collect();
  expect(again.stdout).toMatch(new RegExp(`^kept +run ${first} of kept +run ${rerun.runId} on a server reuses`, 'm'));
  expect(again).toMatchObject({ exitCode: 0, stderr: '' });
  await finish(rerun.runId);
  const { stdout } = await collect();
  expect(stdout).toMatch(new RegExp(`^freed +run ${rerun.runId} of kept`, 'm'));
  expect(stdout).toMatch(/^freed +source/m);

  await detach();
  await server.kill();
  const unasked = await sluice('gc', '--older-than', '0s');
  expect(unasked.stdout).toContain(`of main/physics on ${server.url} may use: could not ask which they are: `);
  expect(unasked.exitCode).toBe(1);
});
