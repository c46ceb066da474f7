import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CREDENTIALS, type Server, serveNew } from './served-rig.ts';
import { createWorkplace, type Ended, parseLines, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `
version: 1
name: OVERLAP
params: { seconds: 600 }
concurrency: { overlap: OVERLAP }
steps:
  wait:
    command: [sh, -c, 'trap "exit 1" TERM; sleep $SECONDS & wait $!']
    env: { SECONDS: "\${{ params.seconds }}" }
`;

let place: Workplace;
let server: Server;

beforeAll(async () => {
  place = createWorkplace();
  for (const overlap of ['replace', 'fail'])
    writeFileSync(join(place.directory, `${overlap}.yaml`), PIPELINE.replaceAll('OVERLAP', overlap));
  server = await serveNew(place);
});

afterAll(async () => {
  await server?.kill();
  place.remove();
});

const sluice = (...args: string[]): Promise<Ended> => place.start(args, { env: CREDENTIALS }).ended;

const order = (file: string, seconds: number): Promise<Ended> =>
  sluice('run', file, '--detach', '--json', '--service', server.url, '-p', `seconds=${seconds}`);

const runIdOf = ({ stdout }: Ended) => parseLines<{ runId: string }>(stdout).at(-1)!.runId;

async function listStatuses(): Promise<Readonly<Record<string, string>>> {
  const listed = parseLines<{ runId: string; status: string }>((await sluice('runs', '--json')).stdout);
  return Object.fromEntries(listed.map(({ runId, status }) => [runId, status]));
}

test('a run replaces an earlier one of its concurrency group', async () => {
  const earlier = runIdOf(await order('replace.yaml', 600));
  const later = runIdOf(await order('replace.yaml', 0));
  expect(await sluice('attach', later)).toMatchObject({ exitCode: 0 });
  expect(await listStatuses()).toEqual({ [earlier]: 'canceled', [later]: 'succeeded' });
});

test('a run with `fail` is not executed while its group is full, and leaves nothing behind', async () => {
  const earlier = runIdOf(await order('fail.yaml', 600));
  await until(async () => (await listStatuses())[earlier] === 'running', 'the first run to have its place');
  const before = await listStatuses();
  const rejected = await order('fail.yaml', 0);
  const groupTaken = new RegExp(`the concurrency group fail is taken by run ${earlier}; nothing was started`);
  expect(rejected).toMatchObject({ exitCode: 4, stderr: expect.stringMatching(groupTaken) });
  expect(await listStatuses()).toEqual(before);
  expect(await sluice('cancel', earlier)).toMatchObject({ exitCode: 0 });
  expect(await sluice('attach', earlier)).toMatchObject({ exitCode: 1 });
  expect(await sluice('attach', runIdOf(await order('fail.yaml', 0)))).toMatchObject({ exitCode: 0 });
});
