import { explainFollowed, explainStep, followRun, type RunFollower } from '@sluice/home';
import { viewTexts } from '@sluice/run';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordSampleRun, type SampleRun } from './sample-run.ts';

let sample: SampleRun;
let run: RunFollower;

beforeAll(async () => {
  sample = await recordSampleRun();
  const { disk, clock } = sample.rig.options;
  const followed = await sample.rig.go(followRun({ home: '/home', runId: sample.runId, disk: disk!, clock: clock! }));
  if (!followed.ok) throw new Error(followed.error.message);
  run = followed.value;
});

/** Every cell of the sample run. */
function cells() {
  return run.model.states.flatMap((row, step) => Array.from(row, (_, cell) => ({ step, cell })));
}

describe('explainFollowed', () => {
  test('says the same of every cell as a replay', async () => {
    for (const place of cells()) {
      const name = run.model.facts.plan.steps[place.step]!.step.name;
      const key = run.model.facts.cells[place.step]![place.cell]!.key;
      const step = key === '' ? name : `${name}/${key}`;
      const disk = sample.rig.options.disk!;
      const replayed = await sample.rig.go(explainStep({ home: '/home', disk, runId: sample.runId, step }));
      if (!replayed.ok) throw new Error(replayed.error.message);
      const followed = await sample.rig.go(explainFollowed(run, place, async () => ({ ok: true, value: run })));
      const { dependencies, attempts, cache, wait, history } = replayed.value;
      expect(followed, step).toMatchObject({ dependencies, attempts, cache });
      expect(followed.wait, step).toEqual(wait);
      expect(
        followed.history.flatMap(({ message }) => message ?? []),
        step,
      ).toEqual(history.flatMap(({ message }) => message ?? []));
      // One record can move a cell several times; only where it ends is shown.
      const moves = history
        .filter(({ status }) => status !== undefined)
        .map(({ at, status, attempt }) => `${at} ${status} ${attempt}`);
      const shown = followed.history
        .filter(({ status }) => status !== undefined)
        .map(({ at, status, attempt }) => `${at} ${status} ${attempt}`);
      expect(moves, step).toEqual(expect.arrayContaining(shown));
      expect(shown.at(-1), step).toBe(moves.at(-1));
    }
  });

  test('a journal that was removed leaves the moves', async () => {
    const file = `${sample.directory}/journal.ndjson`;
    sample.rig.disk.files.delete(file);
    const followed = await sample.rig.go(
      explainFollowed(run, { step: 0, cell: 0 }, async () => ({ ok: true, value: run })),
    );
    sample.rig.disk.files.set(file, sample.journal);
    expect(followed.history.at(-1)).toMatchObject({ status: 'succeeded' });
  });
});

test('viewTexts evaluates what each cell runs', () => {
  const each = run.model.facts.plan.steps.findIndex(({ step }) => step.name === 'each');
  const grid = run.model.facts.plan.steps.findIndex(({ step }) => step.name === 'grid');
  expect(viewTexts(run, { step: grid, cell: 2 }).image).toBe('image:3');
  expect([0, 1, 2].map((cell) => viewTexts(run, { step: each, cell }).command)).toEqual([
    ['x', 'a'],
    ['x', 'b'],
    ['x', 'c'],
  ]);
});
