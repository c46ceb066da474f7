import { until, type Workplace } from './workplace-rig.ts';

/** Adds to a workplace with all examples runs of those that no test of the examples makes: stopped, resumed, and of `digits`. */
export async function addStoppedRuns(place: Workplace): Promise<void> {
  const start = (...[name, ...args]: string[]) => place.start(['run', `examples/${name}/pipeline.yaml`, ...args]);
  await start('digits').ended;
  const waiting = await start('approval', '--stop-at-approval').ended;
  if (waiting.exitCode !== 75) throw new Error(`the run did not stop at the approval: ${waiting.stderr}`);
  const { runId } = (await place.runs())[0]!;
  await place.sluice('approve', '-r', runId, 'release');
  await place.sluice('resume', runId);
  const open = start('approval');
  await until(() => open.stdout().includes('waits for approval') || open.stdout().includes('Release'), 'the question');
  open.process.kill('SIGINT');
  await open.ended;
}
