import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, type Workplace } from './workplace-rig.ts';

const step = (name: string, more = '') =>
  `version: 1\nname: ${name}\nsteps:\n  make: { command: [sh, -c, "echo x > /out/f"], outputs: { made: { path: /out${more} } } }\n`;

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), step('plain'));
  writeFileSync(join(place.directory, 'retained.yaml'), step('retained', ', retain: true'));
  writeFileSync(join(place.directory, 'asks.yaml'), 'version: 1\nname: asks\nsteps: { ask: { approval: {} } }\n');
});

afterEach(() => place.remove());

async function run(...args: string[]): Promise<string> {
  const ran = await place.start(['run', '--json', ...args], { env: CREDENTIALS }).ended;
  const { runId } = parseLines<{ runId?: string }>(ran.stdout).find((line) => line.runId !== undefined) ?? {};
  if (runId === undefined) throw new Error(ran.stdout + ran.stderr);
  return runId;
}

test('sluice delete removes ended runs, and nothing if one of them must stay', async () => {
  const first = await run();
  const user = await run('--reuse');
  const retained = await run('retained.yaml');
  const asking = await run('asks.yaml', '--stop-at-approval');
  const ids = async () => (await place.runs()).map(({ runId }) => runId).sort();
  const all = [first, user, retained, asking].sort();
  for (const [words, message] of [
    [[first], `could not delete run ${first}: run ${user} reuses its outputs; nothing was deleted`],
    [[user, retained], 'its output make.made is to be retained; nothing was deleted'],
    [[user, asking], `it has not ended; cancel it first with: sluice cancel ${asking}`],
    [[user, 'nosuch'], 'could not find run nosuch'],
    [[], "missing required argument 'run'"],
  ] as const) {
    const refused = await place.sluice('delete', ...words);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(message) });
    expect(await ids()).toEqual(all);
  }
  const both = await place.sluice('delete', first, retained);
  expect(both).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('could not delete 2 runs') });
  const deleted = await place.sluice('delete', first.slice(0, -1), user, user);
  expect(deleted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`deleted  run ${user} of plain`) });
  expect(await ids()).toEqual([retained, asking].sort());
  expect(await place.sluice('show', first)).toMatchObject({ exitCode: 2 });
});

test('sluice delete removes runs of a service with the service that they recorded; a server keeps its own', async () => {
  const server = await serveNew(place);
  try {
    const here = await run('--here', '--service', server.url);
    const there = await run('--service', server.url, '--label', 'team=x');
    const labeled = parseLines<{ runId: string }>((await place.sluice('runs', '--json', '--label', 'team=x')).stdout);
    expect(labeled.map(({ runId }) => runId)).toEqual([there]);
    const sluice = (...args: string[]) => place.start(args, { env: CREDENTIALS }).ended;
    const kept = await sluice('delete', here, there);
    expect(kept).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${server.url} executes it`) });
    const deleted = await sluice('delete', here, '--json');
    expect(parseLines(deleted.stdout), deleted.stderr).toMatchObject([
      { type: 'deletion', runs: [{ runId: here, pipeline: 'plain' }], problems: [] },
    ]);
    expect((await place.runs()).map(({ runId }) => runId)).toEqual([there]);
    const local = await run();
    const again = await run('--here', '--service', server.url);
    const mixed = await sluice('delete', local, again);
    expect(mixed).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('on different services') });
  } finally {
    await server.kill();
  }
});
