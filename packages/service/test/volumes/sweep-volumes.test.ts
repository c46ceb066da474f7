import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { LOCAL_STORAGE } from '../../src/storage/storage-access.ts';
import { temporaryBeside, temporaryName } from '../../src/volumes/files/temporary-name.ts';
import { startVolumeSweep } from '../../src/volumes/sweep-volumes.ts';
import { VirtualClock } from '../fakes/virtual-clock.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const DAY_MS = 86_400_000;

function openRig() {
  const root = temporaryDirectory();
  const volume = join(root, 'volumes/team/v');
  mkdirSync(join(volume, 'a/b'), { recursive: true });
  const clock = new VirtualClock();
  const half = (path: string, age = 2_000) => {
    const file = join(volume, path);
    writeFileSync(file, 'half');
    const seconds = (clock.now() - age) / 1_000;
    utimesSync(file, seconds, seconds);
    return file;
  };
  const start = () =>
    startVolumeSweep({
      ...{ root, clock, log: pino({ level: 'silent' }), now: () => clock.now() },
      clusters: new Map([['one', { storage: root, storageAccess: LOCAL_STORAGE }]]),
    });
  return { root, volume, clock, half, start };
}

test('what a killed service left half-written is removed by the next one, wherever it lies', async () => {
  const { root, volume, half, start } = openRig();
  start();
  const outside = temporaryDirectory();
  writeFileSync(join(outside, '.sluice-tmp-1'), 'not ours');
  symlinkSync(outside, join(volume, 'link'));
  const left = [half('.sluice-tmp-1'), half('a/b/.sluice-tmp-2')];
  mkdirSync(join(volume, 'a/.sluice-tmp-removal-1-0/deep'), { recursive: true });
  utimesSync(join(volume, 'a/.sluice-tmp-removal-1-0'), 1, 1);
  const kept = half('a/file');
  const stop = start();
  await expect.poll(() => readdirSync(join(volume, 'a')).toSorted()).toEqual(['b', 'file']);
  await expect.poll(() => left.map(existsSync)).toEqual([false, false]);
  await stop();
  expect([existsSync(kept), readdirSync(outside)]).toEqual([true, ['.sluice-tmp-1']]);
  expect(existsSync(join(root, 'is-open'))).toBe(false);
});

test('what was to be replaced when a service was killed has its place back, unless something else has it', async () => {
  const { volume, start } = openRig();
  start();
  for (const name of ['lost', 'taken']) {
    mkdirSync(join(volume, `a/.sluice-tmp-aside-${name}/${name}`), { recursive: true });
    writeFileSync(join(volume, `a/.sluice-tmp-aside-${name}/${name}/file`), 'old');
  }
  utimesSync(join(volume, 'a/.sluice-tmp-aside-taken'), 1, 1);
  writeFileSync(join(volume, 'a/taken'), 'new');
  const stop = start();
  await expect.poll(() => readdirSync(join(volume, 'a')).toSorted()).toEqual(['b', 'lost', 'taken']);
  await stop();
  expect(readFileSync(join(volume, 'a/lost/file'), 'utf8')).toBe('old');
  expect(readFileSync(join(volume, 'a/taken'), 'utf8')).toBe('new');
});

test('what a killed service left within its last second goes too, and nothing that this one is just writing', async () => {
  const { root, volume, half, start } = openRig();
  start();
  // An upload and a copy of a whole directory, and a clock that was set back since.
  const left = [half('.sluice-tmp-1', 0), half('a/.sluice-tmp-0123456789ab-2', -3_600_000)];
  mkdirSync(join(volume, 'a/b/.sluice-tmp-3/deep'), { recursive: true });
  const own = half(temporaryBeside('a/b/c'), 0);
  const stop = start();
  await expect.poll(() => left.map(existsSync)).toEqual([false, false]);
  await expect.poll(() => readdirSync(join(volume, 'a/b'))).toEqual([basename(own)]);
  await stop();
  expect(existsSync(join(root, 'is-open'))).toBe(false);
});

test('what cannot be removed in one volume keeps no other from being swept', async ({ skip }) => {
  const { root, volume, half, start } = openRig();
  start();
  mkdirSync(join(volume, '.sluice-tmp-1'));
  const stuck = half('.sluice-tmp-1/immutable');
  utimesSync(join(volume, '.sluice-tmp-1'), 1, 1);
  if (spawnSync('chattr', ['+i', stuck]).status !== 0) skip('nothing can be made immutable here');
  onTestFinished(() => void spawnSync('chattr', ['-i', stuck]));
  mkdirSync(join(root, 'volumes/team/w'));
  const other = half('../w/.sluice-tmp-2');
  const stop = start();
  await expect.poll(() => existsSync(other)).toBe(false);
  await stop();
  expect(existsSync(stuck)).toBe(true);
});

test('a service that was closed leaves nothing to look for; a day later what is a day old goes, and nothing younger', async () => {
  const { root, clock, half, start } = openRig();
  await start()();
  const old = half(temporaryName());
  const stop = start();
  expect(existsSync(join(root, 'is-open'))).toBe(true);
  await clock.advance(1);
  expect(existsSync(old)).toBe(true);
  await clock.advance(DAY_MS / 2);
  const young = half(`a/${temporaryName()}`);
  await clock.advance(DAY_MS / 2);
  expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
  await clock.advance(DAY_MS);
  expect(existsSync(young)).toBe(false);
  await stop();
});
