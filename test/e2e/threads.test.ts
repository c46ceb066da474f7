import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/service/test/volumes/temporary-directory.ts';
import { COMMAND } from './workplace-rig.ts';

test('the command has threads for several storages that do not answer, unless its user chooses their number', () => {
  const hook = join(temporaryDirectory(), 'hook.cjs');
  // The first call in a thread starts all of them.
  writeFileSync(
    hook,
    `process.on('exit', () => {
      const count = () => require('node:fs').readdirSync('/proc/self/task').length;
      const before = count();
      require('node:crypto').randomFill(Buffer.alloc(1), () => {});
      console.error(count() - before);
    });`,
  );
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  const threads = (more: Record<string, string> = {}) => {
    const args = ['-r', hook, COMMAND, '--version'];
    return Number(spawnSync(process.execPath, args, { env: { ...env, ...more }, encoding: 'utf8' }).stderr);
  };
  expect(threads()).toBe(16);
  expect(threads({ UV_THREADPOOL_SIZE: '5' })).toBe(5);
});
