import { expect, test } from 'vitest';
import { matchRun } from '../../src/model/match-run.ts';

const run = { runId: 'abcdefghijklm', pipeline: 'train', labels: { team: 'Vision', stage: 'test' } };

test('every word of a search must match the name, the ID or a label', () => {
  const matching = ['', 'train', 'TRAIN team=vision', 'stage=', 'bcd test', ' train '];
  expect(matching.filter((search) => !matchRun(run, search))).toEqual([]);
  const others = ['training', 'team=text', 'train team=text', 'vision=team'];
  expect(others.filter((search) => matchRun(run, search))).toEqual([]);
});
