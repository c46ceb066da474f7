import { encodeLine, journalPath, readRunOrder, runDirectory } from '@sluice/home';
import type { RunOrder } from '@sluice/run';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const ORDER = { file: '/a/p.yaml', params: { n: '1' }, service: 'https://hpc.example' };

/** Runs a step, and returns the disk and the ID of the run. */
async function runOnce(order?: RunOrder) {
  const rig = createRig('run order');
  const plan = createHandPlan([createStep('a')]);
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/', ...(order && { order }) }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  return { rig, runId: started.value.runId, file: journalPath(runDirectory('/home', started.value.runId)) };
}

test('readRunOrder returns the order that started a run, and nothing where none is recorded', async () => {
  for (const order of [ORDER, undefined]) {
    const { rig, runId } = await runOnce(order);
    expect(await rig.go(readRunOrder('/home', runId, rig.disk))).toEqual(order);
  }
  const { rig } = await runOnce();
  expect(await rig.go(readRunOrder('/home', 'abcdefghijklm', rig.disk))).toBeUndefined();
});

test('readRunOrder reads no more of a journal than it needs, however large the record is', async () => {
  const { rig, runId, file } = await runOnce(ORDER);
  const journal = Buffer.from((await rig.go(rig.disk.read(file)))!);
  const lines = journal.toString().trimEnd().split('\n');
  const at = lines.findIndex((line) => line.includes('"kind":"run"'));
  const { crc: _, ...line } = JSON.parse(lines[at]!);
  line.record.baseDir = `/${'d'.repeat(2_000_000)}`;
  lines[at] = encodeLine(line).trimEnd();
  await rig.go(rig.disk.replace(file, Buffer.from(`${lines.join('\n')}\n${'x'.repeat(40_000_000)}`)));
  let most = 0;
  const disk = {
    ...rig.disk,
    readPart: (path: string, part: { start: number; length: number }) => {
      most = Math.max(most, part.length);
      return rig.disk.readPart(path, part);
    },
  };
  expect(await rig.go(readRunOrder('/home', runId, disk))).toEqual(ORDER);
  expect(most).toBe(1 << 22);
});

test('readRunOrder returns nothing for a journal that is damaged at its beginning, or empty', async () => {
  const { rig, runId, file } = await runOnce(ORDER);
  const journal = Buffer.from((await rig.go(rig.disk.read(file)))!).toString();
  for (const text of ['', 'x', journal.replace('p.yaml', 'q.yaml')]) {
    await rig.go(rig.disk.replace(file, Buffer.from(text)));
    expect(await rig.go(readRunOrder('/home', runId, rig.disk))).toBeUndefined();
  }
});
