import { expect, test } from 'vitest';
import { createCounter } from '../../src/metrics/create-counter.ts';
import { createHistogram } from '../../src/metrics/create-histogram.ts';
import { measureProcess } from '../../src/metrics/measure-process.ts';
import { renderMetrics } from '../../src/metrics/metric-family.ts';

test('counters are sorted by their labels, whose values are escaped', () => {
  const counter = createCounter({ name: 'sluice_things_total', help: 'Things that were counted' });
  counter.add({ name: 'b' });
  counter.add({ name: 'a\\"\n' });
  counter.add({ name: 'b' });
  expect(renderMetrics([counter.family()])).toBe(
    [
      '# HELP sluice_things_total Things that were counted',
      '# TYPE sluice_things_total counter',
      'sluice_things_total{name="a\\\\\\"\\n"} 1',
      'sluice_things_total{name="b"} 2',
      '',
    ].join('\n'),
  );
});

test('each bucket of a histogram contains those below it', () => {
  const histogram = createHistogram({ name: 'sluice_wait_seconds', help: 'Time' }, [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
  histogram.observe(1, { kind: 'x' });
  expect(renderMetrics([histogram.family()]).split('\n')).toEqual([
    '# HELP sluice_wait_seconds Time',
    '# TYPE sluice_wait_seconds histogram',
    'sluice_wait_seconds_bucket{kind="x",le="0.1"} 0',
    'sluice_wait_seconds_bucket{kind="x",le="1"} 1',
    'sluice_wait_seconds_bucket{kind="x",le="+Inf"} 1',
    'sluice_wait_seconds_sum{kind="x"} 1',
    'sluice_wait_seconds_count{kind="x"} 1',
    'sluice_wait_seconds_bucket{le="0.1"} 2',
    'sluice_wait_seconds_bucket{le="1"} 3',
    'sluice_wait_seconds_bucket{le="+Inf"} 4',
    'sluice_wait_seconds_sum 7.65',
    'sluice_wait_seconds_count 4',
    '',
  ]);
});

test('the lag of the event loop is that since the previous reading', () => {
  const read = measureProcess();
  const [memory, lag] = read();
  expect(memory!.samples[0]!.value).toBeGreaterThan(1_000_000);
  expect(lag!.samples.map(({ labels }) => labels)).toEqual([{ stat: 'mean' }, { stat: 'p99' }, { stat: 'max' }]);
  // Nothing was measured yet.
  for (const { value } of lag!.samples) expect(value).toBe(0);
});
