import type { Container } from '@sluice/client';
import { describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import type { Rig } from '../simulation/rig.ts';
import { createChangeRig, make, run, write } from './change-rig.ts';

const expecting = (...patterns: string[]) => ({
  ...make,
  outputs: { data: { path: '/data', retain: false, expect: patterns } },
});

function createMakeRig(names: readonly string[]): Rig {
  const work = (container: Container) => {
    for (const name of names) write(rig, container, { at: '/data', name, text: 'x' });
  };
  const rig: Rig = createChangeRig({ behave: { make: { work } } });
  return rig;
}

describe('an output with expected files', () => {
  test.each([
    [['model.bin'], ['*.bin']],
    [
      ['a/b/model.bin', 'log.txt'],
      ['**/*.bin', '*.{txt,md}'],
    ],
    [['logs/1.log'], ['logs/**']],
    [['m-1.bin'], ['m-[0-9].bin', '?-1.bin']],
  ])('that has %j matches %j', async (names, patterns) => {
    expect((await run(createMakeRig(names), createHandPlan([expecting(...patterns)]))).failures).toEqual([]);
  });

  test.each([
    [[], ['*.bin'], '*.bin'],
    [['model.txt'], ['*.txt', '*.bin'], '*.bin'],
    [['deep/model.bin'], ['*.bin'], '*.bin'],
  ])('that has %j fails for %j', async (names, patterns, missing) => {
    const report = await run(createMakeRig(names), createHandPlan([expecting(...patterns)]));
    expect(report.failures.map(({ message }) => message)).toEqual([
      `could not publish: output data (/data): no file matches the expected pattern ${JSON.stringify(missing)}`,
    ]);
  });

  test('costs no request where nothing is expected', async () => {
    const rig = createMakeRig(['x']);
    await run(rig, createHandPlan([make, { ...make, name: 'again' }]));
    expect(rig.simulated.calls.get('files.stat')).toBeUndefined();
  });
});

describe('an output to which nothing was written', () => {
  test('is warned of once for a step, and kept in the report', async () => {
    const cells = { axes: { n: [1, 2, 3] }, include: [], exclude: [] };
    const report = await run(createMakeRig([]), createHandPlan([{ ...make, matrix: cells }]));
    expect(report.warnings?.map(({ message }) => message)).toEqual([
      'nothing was written to output data of make/n-1 (/data); set `expect` on it if it must not be empty',
    ]);
  });

  test('is nothing to be warned of where a file is there', async () => {
    expect((await run(createMakeRig(['x']), createHandPlan([make]))).warnings ?? []).toEqual([]);
  });
});
