import { createPlan, parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { readPlan } from '../../src/record/run-home.ts';
import { createRig } from '../simulation/rig.ts';

const FILE = `
version: 1
name: kept
concurrency: { group: one, overlap: OVERLAP }
steps:
  fit:
    matrix: { k: [1, 2, 3] }
    parallelism: 2
    command: [fit]
    retry: { limit: 1, infrastructure: 5 }
finally:
  tell: { command: [tell], retry: { infrastructure: 0 } }
`;

/** The text of a plan as the versions before the renames wrote it. */
const toEarlier = (text: string) =>
  text
    .replaceAll('"parallelism":2', '"maxParallel":2')
    .replaceAll('"infrastructure":', '"infrastructureLimit":')
    .replace('"overlap":"replace"', '"behavior":"cancel"')
    .replace('"overlap":"fail"', '"behavior":"fail"');

test.each(['replace', 'fail'])(
  'readPlan: reads a plan with the keys of earlier versions (overlap %s)',
  async (overlap) => {
    const parsed = parsePipeline({ file: 'p.yaml', text: FILE.replace('OVERLAP', overlap) });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const plan = createPlan(parsed.value.pipeline, {});
    if (!plan.ok) throw new Error(JSON.stringify(plan.error));
    const disk = createRig(`kept-${overlap}`).options.disk!;
    const steps = plan.value.steps.map(({ step: _, ...planned }) => planned);
    const present = JSON.stringify({ ...plan.value, steps });
    const earlier = toEarlier(present);
    for (const key of ['maxParallel', 'infrastructureLimit', 'behavior']) expect(earlier).toContain(`"${key}"`);
    await disk.replace('/runs/r/plan.json', Buffer.from(earlier));
    expect(await readPlan(disk, '/runs/r')).toEqual(plan);
  },
);
