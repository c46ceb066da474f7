import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkplace, type Ended, type Workplace } from './workplace-rig.ts';

describe('sluice run examples/digits', () => {
  let place: Workplace;
  let first: Ended;

  beforeAll(async () => {
    place = createWorkplace('digits');
    first = await place.sluice('run', 'pipeline.yaml');
  });

  afterAll(() => place.remove());

  test('ends well and says which model has won, its accuracy, and where the files are', () => {
    expect(first.stderr).toBe('');
    expect(first.exitCode).toBe(0);
    expect(first.stdout).toMatch(/fit +12 succeeded/);
    expect(first.stdout).toMatch(/select +model +knn-3 on strokes/);
    expect(first.stdout).toMatch(/evaluate +accuracy +0\.98\d*/);
    expect(first.stdout).toMatch(/report +results\/report\n/);
    expect(first.stdout).toMatch(/digits succeeded in .*: 17 succeeded \(run \w+\)\n$/);
  });

  test('publishes a winner that reads more than 95 of 100 unseen digits', () => {
    const { accuracy, confusion, images } = JSON.parse(place.read('results/evaluation/evaluation.json'));
    expect(accuracy).toBeGreaterThan(0.95);
    const total = (rows: number[][]) => rows.flat().reduce((sum, count) => sum + count, 0);
    expect(images).toBe(359);
    expect(total(confusion)).toBe(359);
    const right = confusion.reduce((sum: number, row: number[], digit: number) => sum + row[digit]!, 0);
    expect(right / images).toBeCloseTo(accuracy, 12);
    expect(JSON.parse(place.read('results/model/model.json'))).toMatchObject({ family: 'knn', setting: 'knn-3' });
  });

  test('publishes a page with the confusion matrix, and the last word of the run', () => {
    const page = place.read('results/report/report.html');
    expect(page).toContain('<svg');
    expect(page).toContain('Confusion matrix');
    expect(page).not.toMatch(/(src|href)=/);
    expect(place.read('results/summary/summary.txt')).toMatch(/^run \w+ succeeded\n$/);
  });

  test('reuses everything that is unchanged in a second run, and says so', async () => {
    const before = place.read('results/evaluation/evaluation.json');
    const second = await place.sluice('run', 'pipeline.yaml');
    expect(second.exitCode).toBe(0);
    expect(second.stdout).toMatch(/1 succeeded, 16 reused from earlier runs/);
    expect(second.stdout).toMatch(/evaluate +accuracy +0\.98\d*/);
    expect(place.read('results/evaluation/evaluation.json')).toBe(before);
    expect(await place.containers()).toHaveLength(18);
  });

  test('runs again what a changed parameter touches', async () => {
    const third = await place.sluice('run', 'pipeline.yaml', '--param', 'models=["knn-3","softmax-0.001"]');
    expect(third.exitCode).toBe(0);
    expect(third.stdout).toMatch(/fit +4 reused/);
    expect(third.stdout).toMatch(/select +succeeded/);
  });

  test('leaves nothing beside its home and the published files', () => {
    expect(existsSync(join(place.directory, '.sluice/runs'))).toBe(true);
    expect(existsSync(join(place.directory, 'results'))).toBe(true);
  });
});
