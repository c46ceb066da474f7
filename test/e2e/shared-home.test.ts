import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from '@sluice/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { canBeApart, createWorkplace, type Started, until, type Workplace } from './workplace-rig.ts';

/** Runs until it is canceled, or for a moment. */
const PIPELINE = `
version: 1
name: deploy
params: { waits: false }
concurrency: { group: deploy, overlap: fail }
steps:
  deploy: { command: [sh, -c, "if \${{ params.waits }}; then exec sleep 3600; fi"] }
`;
const FREE = `
version: 1
name: free
steps:
  say: { command: [echo, hello] }
`;

let place: Workplace;
let owner: Started;
const apart = { isApart: true };

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'deploy.yaml'), PIPELINE);
  writeFileSync(join(place.directory, 'free.yaml'), FREE);
  owner = place.start(['run', 'deploy.yaml', '-p', 'waits=true'], { isEndless: true });
  await until(async () => (await place.runs())[0]?.status === 'running', 'the run is under way');
});

afterEach(async () => {
  owner.process.kill('SIGKILL');
  await owner.ended;
  await place.sluice('cancel', (await place.runs())[0]!.runId);
  place.remove();
});

test.skipIf(!canBeApart() && process.env.CI !== 'true')(
  'a home that two network namespaces share has its locks, and one service',
  async () => {
    const { runId } = (await place.runs())[0]!;
    const seenApart = async () => {
      const { stdout } = await place.start(['runs', '--json'], apart).ended;
      const runs = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RunSummary);
      return runs.find((run) => run.runId === runId)?.status;
    };
    expect(await seenApart()).toBe('running');
    const resumed = await place.start(['resume', runId], apart).ended;
    expect(resumed.exitCode).not.toBe(0);
    const rejected = await place.start(['run', 'deploy.yaml'], apart).ended;
    expect(rejected).toMatchObject({ exitCode: 4 });
    expect(rejected.stderr).toContain(`the concurrency group deploy is taken by run ${runId}`);
    expect(await place.start(['run', 'free.yaml'], apart).ended).toMatchObject({ exitCode: 0 });
    owner.process.kill('SIGKILL');
    await owner.ended;
    expect(await seenApart()).toBe('suspended');
  },
);
