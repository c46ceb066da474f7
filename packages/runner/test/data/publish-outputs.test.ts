import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSystemDisk } from '@sluice/home';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { listPublished } from '../../src/data/list-published.ts';
import { publishOutputs } from '../../src/data/publish-outputs.ts';
import { pullOutput } from '../../src/data/pull-output.ts';
import { createChangeRig, make, run } from './change-rig.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-publish-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

const from = { step: 'make', output: 'data' };
const PLAN = createHandPlan([make], {
  outputs: { one: { from, publish: './one' }, two: { from, publish: './two' } },
});

/** Runs one step as a server does, which publishes nothing. */
async function runElsewhere() {
  const rig = createChangeRig({ realTime: true });
  const home = path.join(base, 'home');
  const options = { ...rig.options, home, disk: createSystemDisk() };
  const { runId } = await run({ ...rig, options }, PLAN, { baseDir: base, delivers: false });
  return { home, runId, service: rig.options.service, directories: listPublished(PLAN, base) };
}

const markerIn = (name: string) => readFile(path.join(base, name, '.sluice-result.json'), 'utf8');

describe('publishOutputs', () => {
  test('publishes each output of a run that another machine has executed', async () => {
    const ended = await runElsewhere();
    const published = await publishOutputs(ended);
    expect(published).toMatchObject({ value: [{ output: 'one' }, { output: 'two' }] });
    expect(published.ok && published.value.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    expect(await readFile(path.join(base, 'two', 'n'), 'utf8')).toBe('6');
    expect(await publishOutputs(ended)).toMatchObject({ value: [{ isKnown: true }, { isKnown: true }] });
  });

  test('writes only the directories that the caller names, whatever the journal says', async () => {
    const ended = await runElsewhere();
    const directories = { two: path.join(base, 'elsewhere'), unknown: path.join(base, 'unknown') };
    const directory = path.join(base, 'elsewhere');
    expect(await publishOutputs({ ...ended, directories })).toMatchObject({ value: [{ output: 'two', directory }] });
    expect((await readdir(base)).sort()).toEqual(['elsewhere', 'home']);
  });

  test('rejects the directory of another output, to which a link leads', async () => {
    const ended = await runElsewhere();
    await symlink('one', path.join(base, 'two'));
    const published = await publishOutputs(ended);
    const problem = expect.stringContaining('it holds output one of this run, perhaps through a link');
    expect(published).toMatchObject({ value: [{ output: 'one' }, { output: 'two', problem }] });
    expect(await markerIn('one')).toContain('"output": "one"');
  });

  test('changes nothing about a pull to a directory that the user names', async () => {
    const { home, runId, service } = await runElsewhere();
    for (const output of ['one', 'two']) {
      const pulled = await pullOutput({ home, runId, service, output, to: path.join(base, 'pulled') });
      expect(pulled).toEqual({ ok: true, value: [] });
      expect(await markerIn('pulled')).toContain(`"output": "${output}"`);
    }
  });
});
