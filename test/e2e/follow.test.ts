import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { followRun, listRuns, type RunFollower } from '@sluice/home';
import { type FollowedModel, SHOWN_STATUSES } from '@sluice/run';
import { expect, onTestFinished, test } from 'vitest';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

/** Kills of the runner; CI tries more. */
const KILLS = process.env.SLUICE_SOAK === 'true' ? 6 : 3;

const PIPELINE = `version: 1
name: followed
steps:
  list: { command: 'echo "[1, 2, 3]" > /sluice/results/items', results: { items: array } }
  each: { foreach: "\${{ steps.list.results.items }}", command: 'sleep 0.2; echo "\${{ item }}"' }
  grid: { command: 'sleep 0.\${{ matrix.n }}', matrix: { n: [1, 2, 3, 4, 5, 6] } }
  last: { command: 'true', needs: [each, grid] }
`;

test('a run is followed while its runner is killed and resumed, and nothing is missed or repeated', async () => {
  const place = createWorkplace();
  onTestFinished(() => place.remove());
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  let runner = place.start(['run', 'pipeline.yaml']);
  const run = await follow(place);
  const received: number[][] = [];
  let model = run.model;
  const unsubscribe = run.subscribe((problem) => {
    expect(problem).toBe(undefined);
    if (run.model !== model) received.length = 0;
    model = run.model;
    received.push(...movesOf(model).slice(received.length));
  });
  onTestFinished(unsubscribe);
  for (let kill = 1; kill <= KILLS; kill++) {
    // Counted in moves, so that a slow machine is killed at the same places.
    const count = received.length + 4;
    await until(() => received.length >= count || run.model.facts.finished !== undefined, `${count} moves`);
    runner.process.kill('SIGKILL');
    await runner.ended;
    await until(() => run.phase !== 'running', 'the end of the runner');
    await compareWithFresh(place, run, received);
    if (run.model.facts.finished) break;
    runner = place.start(['resume', run.runId]);
    await until(() => run.phase !== 'suspended', 'the resumed run');
  }
  await runner.ended;
  await until(() => run.phase === 'succeeded', 'the end of the run');
  await compareWithFresh(place, run, received);
  expect(run.model.counts()).toEqual({ succeeded: 11 });
  expect(run.model.counts(1)).toEqual({ succeeded: 3 });
});

async function follow({ home }: Workplace): Promise<RunFollower> {
  let run: RunFollower | undefined;
  await until(async () => {
    const [newest] = await listRuns(home);
    const followed = newest && (await followRun({ home, runId: newest.runId }));
    if (followed?.ok) run = followed.value;
    return run !== undefined;
  }, 'the first record of the run');
  return run!;
}

function movesOf({ moves }: FollowedModel): number[][] {
  return Array.from({ length: moves.length }, (_, index) => Object.values(moves.at(index)));
}

async function compareWithFresh(place: Workplace, run: RunFollower, received: readonly number[][]): Promise<void> {
  const refreshed = await run.refresh();
  const fresh = await followRun({ home: place.home, runId: run.runId });
  if (!refreshed.ok || !fresh.ok) throw new Error('could not read the run');
  const { model } = fresh.value;
  expect(run.model.position).toBe(model.position);
  expect(run.model.states).toEqual(model.states);
  expect(received).toEqual(movesOf(model));
  const states = model.states.map(({ length }) => Array(length).fill(SHOWN_STATUSES[0]));
  for (let index = 0; index < model.moves.length; index++) {
    const { step, cell, status } = model.moves.at(index);
    states[step]![cell] = SHOWN_STATUSES[status];
  }
  expect(states).toEqual(model.states.map((row) => Array.from(row, (code) => SHOWN_STATUSES[code])));
}
