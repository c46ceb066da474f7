import { createPlan, parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { findOrderFault } from '../../src/hosted/find-order-fault.ts';

function faultOf(step: object, more: object = {}): string | undefined {
  const text = JSON.stringify({ version: 1, name: 'p', steps: { a: { command: ['x'], ...step } }, ...more });
  const parsed = parsePipeline({ file: 'p.json', text });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: {} }) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return findOrderFault(plan.value);
}

test('findOrderFault accepts what a server can execute', () => {
  expect(faultOf({})).toBeUndefined();
  expect(faultOf({ retry: { limit: 100, backoff: { initial: '1s' } } })).toBeUndefined();
  expect(faultOf({}, { notify: [{ on: ['failed'], webhook: 'https://example.org/' }] })).toBeUndefined();
});

const AXES = {
  axes: {
    n: {
      items: [
        { id: 'a', r: 9 },
        { id: 'b', r: 108 },
      ],
      key: '${{ item.id }}',
    },
  },
};
const FAST = { initial: '10ms' };
const LABELS = Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`label-${at}`, 'x'.repeat(4_000)]));

test.each([
  ['a command of the server', {}, { notify: [{ on: ['failed'], command: ['id'] }] }, 'notify.0.command'],
  ['labels without end', {}, { labels: LABELS }, 'at most 16384 characters'],
  ['too many retries', { retry: { limit: 101, backoff: { initial: '1s' } } }, {}, 'at most 100 retries'],
  ['hasty retries', { retry: { limit: 11, backoff: FAST } }, {}, 'more than 10 retries'],
  ['too many retries of one cell', { each: 'n', retry: '${{ each.n.r }}' }, AXES, 'at most 100 retries'],
  [
    'hasty retries of one cell',
    { each: 'n', retry: { limit: '${{ each.n.r / 9 }}', backoff: FAST } },
    AXES,
    'more than 10 retries',
  ],
  ['retries of an unknown number', { foreach: '${{ [1, 2] }}', retry: '${{ item }}' }, {}, 'uses values of the run'],
])('findOrderFault rejects %s', (_, step, more, fault) => {
  expect(faultOf(step, more)).toContain(fault);
});
