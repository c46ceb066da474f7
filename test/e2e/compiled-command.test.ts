import { spawnSync } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND } from './workplace-rig.ts';

test.skipIf('enableCompileCache' in module)('the command starts from what the build has compiled', () => {
  const script = `
    require(${JSON.stringify(join(dirname(COMMAND), 'load-command.js'))}).loadCommand((file, { cachedDataRejected }) => {
      console.error(file + ' ' + cachedDataRejected);
    });`;
  const { stderr, stdout } = spawnSync(process.execPath, ['-e', script, 'sluice', '--help'], { encoding: 'utf8' });
  expect(stdout).toContain('Usage: sluice');
  expect(stderr).toContain('main.cjs false');
  expect(stderr).not.toMatch(/ (true|undefined)$/m);
});
