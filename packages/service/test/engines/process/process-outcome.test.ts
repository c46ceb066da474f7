import { mkdtemp, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readRecordedOutcome } from '../../../src/engines/process/process-outcome.ts';

describe('readRecordedOutcome', () => {
  const boot = { id: '0123456789abcdef', timeMs: 0 };
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-fate-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  test('believes an exit record before anything else', async () => {
    await symlink('1 2 of-another-boot', join(directory, 'claim'));
    await symlink('exited 3 0 0 10 20', join(directory, 'exit'));
    expect(await readRecordedOutcome({ directory }, boot)).toMatchObject({ type: 'ended', record: { endedAt: 20 } });
  });

  test('gives the process of a claim of this boot, and none of another', async () => {
    await symlink(`12 345 ${boot.id}`, join(directory, 'claim'));
    expect(await readRecordedOutcome({ directory }, boot)).toMatchObject({
      type: 'claimed',
      by: { pid: 12, startTicks: '345' },
    });
    expect(await readRecordedOutcome({ directory }, { ...boot, id: 'fedcba9876543210' })).toMatchObject({
      type: 'lost',
    });
  });

  test('claims what is unclaimed, so that absent stays true', async () => {
    expect(await readRecordedOutcome({ directory }, boot)).toEqual({ type: 'absent' });
    expect(await readlink(join(directory, 'claim'))).toBe('absent');
    expect(await readRecordedOutcome({ directory }, boot)).toEqual({ type: 'absent' });
  });

  test('does not call absent what may have started before the machine crashed', async () => {
    const later = { ...boot, timeMs: Date.now() + 60_000 };
    expect(await readRecordedOutcome({ directory }, later)).toMatchObject({
      type: 'lost',
      reason: expect.stringContaining('restarted'),
    });
  });

  test('calls absent what was made in this boot, whatever the clock says now', async () => {
    const later = { ...boot, timeMs: Date.now() + 86_400_000 };
    expect(await readRecordedOutcome({ directory, bootId: boot.id }, later)).toEqual({ type: 'absent' });
  });
});
