import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunnerEvent } from '@sluice/run';
import { expect, test } from 'vitest';
import { CREDENTIALS, serveNew } from './served-rig.ts';
import { createWorkplace, parseLines, until } from './workplace-rig.ts';

test('cancel reaches the runner of a run while the service cannot be reached', async () => {
  const place = createWorkplace();
  const server = await serveNew(place);
  const env = { ...CREDENTIALS, SLUICE_SERVICE: server.url };
  const steps = { long: { command: ['sleep', '20'] } };
  writeFileSync(join(place.directory, 'p.json'), JSON.stringify({ version: 1, name: 'p', steps }));
  const run = place.start(['run', '--here', 'p.json', '--json'], { env });
  try {
    await until(() => run.stdout().includes('"status":"running"'), 'the step to run');
    await server.kill();
    const { runId } = parseLines<RunnerEvent>(run.stdout())[0]!;
    const canceled = await place.start(['cancel', runId], { env }).ended;
    expect(canceled).toEqual({ exitCode: 0, stdout: `canceling run ${runId}\n`, stderr: '' });
  } finally {
    run.process.kill('SIGKILL');
    await run.ended;
    await server.kill();
    place.remove();
  }
});
