import { spawnSync } from 'node:child_process';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMAND } from './workplace-rig.ts';

test.skipIf('enableCompileCache' in module)('the command starts from what the build has compiled', () => {
  const { stderr, stdout } = loadHelp('');
  expect(stdout).toContain('Usage: sluice');
  expect(stderr).toContain('main.cjs false');
  expect(stderr).not.toMatch(/ (true|undefined)$/m);
});

// V8 does not reject what another build of Node.js with the same V8 has compiled, and crashes over it.
test.skipIf('enableCompileCache' in module)('another Node.js leaves alone what the build has compiled', () => {
  const { stderr, stdout } = loadHelp("Object.defineProperty(process, 'version', { value: 'v20.19.9' });");
  expect(stdout).toContain('Usage: sluice');
  expect(stderr).toContain('main.cjs undefined');
  expect(stderr).not.toMatch(/ (true|false)$/m);
});

/** `sluice --help`, which says on stderr of each file whether its compiled form was rejected; undefined: there is none. */
function loadHelp(before: string) {
  const script = `${before}
    require(${JSON.stringify(join(dirname(COMMAND), 'load-command.js'))}).loadCommand((file, { cachedDataRejected }) => {
      console.error(file + ' ' + cachedDataRejected);
    });`;
  return spawnSync(process.execPath, ['-e', script, 'sluice', '--help'], { encoding: 'utf8' });
}
