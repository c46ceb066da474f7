import { createPlan, parsePipeline, resolveDecision } from '@sluice/core';
import { expect, test } from 'vitest';
import { RECEIVED_FILE } from '../../src/journal/run-marks.ts';
import { readPlan, writePlan } from '../../src/runs/run-home.ts';
import { createMemoryDisk } from '../memory-disk.ts';

const TEN = '[0,1,2,3,4,5,6,7,8,9]';
const WHEN = Array.from({ length: 6 }).reduce((inner: string, _, at) => `${TEN}.all(v${at}, ${inner})`, 'true');

/** Whether a step can be decided whose expression takes a million turns. */
async function canDecide(files: Readonly<Record<string, string>>): Promise<boolean> {
  const text = `version: 1\nname: p\nsteps: { a: { command: [x], when: "\${{ ${WHEN} }}" } }\n`;
  const parsed = parsePipeline({ file: 'p.yaml', text });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const disk = createMemoryDisk();
  await writePlan(disk, '/run', plan.value);
  for (const [name, content] of Object.entries(files)) await disk.replace(`/run/${name}`, Buffer.from(content));
  const read = await readPlan(disk, '/run');
  if (!read.ok || read.value === undefined) throw new Error('the plan was not read');
  const run = { id: 'r', name: 'p', plannedTime: '' };
  return resolveDecision(read.value, 0, { run, attempt: 1, steps: () => undefined }).ok;
}

test('readPlan: only the evaluations of a received run are limited', async () => {
  expect(await canDecide({})).toBe(true);
  expect(await canDecide({ [RECEIVED_FILE]: '{}' })).toBe(false);
});
