import { expect, test } from 'vitest';
import { isOwnContainer } from '../../src/session/is-own-container.ts';
import { createLabels } from '../../src/session/labels.ts';

const name = { runId: 'abcdefghijklm', step: 'fit', cell: '', attempt: 1 };
const attempt = { name, createTime: '2026-01-01T00:00:00Z' };
const labels = createLabels(name, { epoch: 1, spec: 'x', of: { labels: {} } });
const { 'sluice-cell': _cell, ...withoutEmpty } = labels;
const LATER = '2026-03-01T00:00:00Z';

test.each([
  ['its labels, whatever the time', { labels, createTime: LATER }, true],
  ['its labels, whatever the run', { labels, runID: 'another' }, true],
  ['its labels without the empty one', { labels: withoutEmpty }, true],
  ['the labels of another attempt', { labels: { ...labels, 'sluice-attempt': '2' } }, false],
  ['no labels of ours', { labels: {} }, false],
  ['no labels field and another run', { createTime: '2026-01-01T00:00:01Z', runID: 'another' }, true],
  ['no labels field and another time', { createTime: LATER }, false],
])('isOwnContainer goes by %s', (_, seen, expected) => {
  expect(isOwnContainer(attempt, { id: 'a', clusterID: 'c', accountID: 'me', ...seen })).toBe(expected);
});
