import { describe, expect, test } from 'vitest';
import { hasProgram, runClient } from '../client-program.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { openDavRig } from './dav-rig.ts';

describe('createWebDavHandler', () => {
  test.skipIf(!hasProgram('litmus'))('passes every test of litmus without a warning', async () => {
    const rig = await openDavRig();
    const run = await runClient('litmus', ['--keep-going', `${rig.url}/`, 'data', 'secret-data'], {
      cwd: temporaryDirectory(),
    });
    const summaries = [...run.output.matchAll(/summary for `(\w+)': of (\d+) tests run: (\d+) passed, (\d+) failed/g)];
    const passed = summaries.reduce((sum, [, , , count]) => sum + Number(count), 0);
    const notes = run.output.split('\n').filter((line) => /FAIL|WARNING|SKIPPED|never received/.test(line));
    expect(notes).toEqual([]);
    expect(passed).toBe(104);
    expect(run.code).toBe(0);
    expect(rig.errors).toEqual([]);
  });
});
