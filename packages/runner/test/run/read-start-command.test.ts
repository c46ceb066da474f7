import { encodeLine, journalPath, readStartCommand, runDirectory } from '@sluice/home';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const WORDS = ['run', '/a/p.yaml', '--service', 'https://hpc.example'];

/** Runs a step, and returns the disk and the ID of the run. */
async function runOnce(rerun?: readonly string[]) {
  const rig = createRig('start command');
  const plan = createHandPlan([createStep('a')]);
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/', ...(rerun && { rerun }) }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  return { rig, runId: started.value.runId, file: journalPath(runDirectory('/home', started.value.runId)) };
}

test('readStartCommand returns the command that started a run, and nothing where none is recorded', async () => {
  for (const words of [WORDS, undefined]) {
    const { rig, runId } = await runOnce(words);
    expect(await rig.go(readStartCommand('/home', runId, rig.disk))).toEqual(words);
  }
  const { rig } = await runOnce();
  expect(await rig.go(readStartCommand('/home', 'abcdefghijklm', rig.disk))).toBeUndefined();
});

test('readStartCommand reads no more of a journal than it needs, however large the record is', async () => {
  const { rig, runId, file } = await runOnce(WORDS);
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
  expect(await rig.go(readStartCommand('/home', runId, disk))).toEqual(WORDS);
  expect(most).toBe(1 << 22);
});

test('readStartCommand returns nothing for a journal that is damaged at its beginning, or empty', async () => {
  const { rig, runId, file } = await runOnce(WORDS);
  const journal = Buffer.from((await rig.go(rig.disk.read(file)))!).toString();
  for (const text of ['', 'x', journal.replace('p.yaml', 'q.yaml')]) {
    await rig.go(rig.disk.replace(file, Buffer.from(text)));
    expect(await rig.go(readStartCommand('/home', runId, rig.disk))).toBeUndefined();
  }
});
