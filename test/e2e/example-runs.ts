import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));
/** Examples that end by themselves, in groups that run at the same time. `nightly` needs a planned time, `approval` a person. */
const GROUPS: readonly (readonly (readonly string[])[])[] = [
  [['writable'], ['matrix'], ['conditions'], ['conditions', '--param', 'break=true', '--param', 'full=true']],
  [['samples'], ['foreach'], ['typed-results'], ['retry']],
  [['service'], ['finally'], ['cache'], ['placement']],
  [['digits'], ['uses'], ['publish'], ['secrets']],
  [['cache'], ['pools'], ['concurrency'], ['concurrency']],
];

/** A workplace whose home has runs of all examples, one of which was suspended and resumed. */
export async function createExampleRuns(): Promise<Workplace> {
  const place = createWorkplace();
  const isMade = (path: string) => /\/(results|\.sluice)$/.test(path);
  cpSync(EXAMPLES, join(place.directory, 'examples'), { recursive: true, filter: (path) => !isMade(path) });
  const env = { SLUICE_SECRET_TOKEN: 'canary-3b9f', SLUICE_SECRET_PASSWORD: 'canary-77c1' };
  const start = ([name, ...args]: readonly string[]) =>
    place.start(['run', `examples/${name}/pipeline.yaml`, ...args], { env });
  for (const group of GROUPS) await Promise.all(group.map((words) => start(words).ended));
  await place.sluice('schedule', 'backfill', '2026-03-01..2026-03-01', 'examples/nightly/pipeline.yaml');
  const waiting = await start(['approval', '--stop-at-approval']).ended;
  if (waiting.exitCode !== 75) throw new Error(`the run did not stop at the approval: ${waiting.stderr}`);
  const { runId } = (await place.runs())[0]!;
  await place.sluice('approve', '-r', runId, 'release');
  await place.sluice('resume', runId);
  const open = start(['approval']);
  await until(() => open.stdout().includes('waits for approval') || open.stdout().includes('Release'), 'the question');
  open.process.kill('SIGINT');
  await open.ended;
  return place;
}
