import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../src/command-line/run-command-line.ts';
import { openPipelineFiles } from '../../src/pipeline/pipeline-files.ts';
import { createTestContext } from '../recording-terminal.ts';

const MAIN = 'version: 1\nname: demo\ninclude: common.yaml\nsteps:\n  fit: { command: [x] }\n';
let place: string;
let cwd: string;

beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-files-')));
  cwd = join(place, 'project');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'p.yaml'), MAIN);
  writeFileSync(join(place, 'outside.yaml'), 'env: { WHERE: outside }\n');
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

async function check(...args: string[]) {
  const context = createTestContext({ cwd });
  const exitCode = await runCommandLine(['check', 'p.yaml', ...args], context);
  return { exitCode, ...context.terminal.written() };
}

/** Makes `common.yaml` a link to what it gives. */
function linkTo(target: string): void {
  symlinkSync(target, join(cwd, 'common.yaml'));
}

test.each([
  ['a FIFO', () => execFileSync('mkfifo', [join(cwd, 'common.yaml')]), 'it is a FIFO'],
  ['a directory', () => mkdirSync(join(cwd, 'common.yaml')), 'it is a directory'],
  ['nothing', () => undefined, 'the file does not exist'],
  ['a device', () => linkTo('/dev/zero'), '/dev/zero is outside the project'],
  ['a file of the system', () => linkTo('/proc/self/environ'), 'is outside the project'],
  ['a link to itself', () => linkTo('common.yaml'), 'its symbolic links form a loop'],
  ['a link that leads out', () => linkTo('../outside.yaml'), '/outside.yaml is outside the project'],
  [
    'another encoding',
    () => writeFileSync(join(cwd, 'common.yaml'), Buffer.from('env: { A: m\xfcl }', 'latin1')),
    'line 1 is not text in UTF-8; convert the file',
  ],
  [
    'a file of more than the largest size',
    () => {
      writeFileSync(join(cwd, 'common.yaml'), '');
      truncateSync(join(cwd, 'common.yaml'), 300 * 1024 * 1024);
    },
    'it is larger than 201326592 bytes',
  ],
])('check does not include %s, and does not wait for it', async (_, prepare, reason) => {
  prepare();
  expect(await check()).toMatchObject({ exitCode: 2, err: expect.stringMatching(/could not include common\.yaml: /) });
  expect((await check()).err).toContain(reason);
});

test.each(['../outside.yaml', '/etc/hostname'])('check does not include %s', async (path) => {
  writeFileSync(join(cwd, 'p.yaml'), MAIN.replace('common.yaml', path));
  expect(await check()).toMatchObject({ exitCode: 2, err: expect.stringContaining('is outside the project') });
});

test('check does not use a file that a link leads out to', async () => {
  symlinkSync('../outside.yaml', join(cwd, 'fit.yaml'));
  writeFileSync(join(cwd, 'p.yaml'), 'version: 1\nname: demo\nsteps:\n  fit: { uses: fit.yaml }\n');
  expect((await check()).err).toContain(`could not use fit.yaml: ${place}/outside.yaml is outside the project`);
});

test('check includes what is outside where --root allows it, and absolute paths inside', async () => {
  writeFileSync(join(cwd, 'p.yaml'), MAIN.replace('common.yaml', '../outside.yaml'));
  expect(await check('--root', '..')).toMatchObject({ exitCode: 0, err: '' });
  expect((await check('--root', 'nowhere')).err).toContain('the file does not exist');
  writeFileSync(join(cwd, 'common.yaml'), 'env: { A: b }\n');
  writeFileSync(join(cwd, 'p.yaml'), MAIN.replace('common.yaml', join(cwd, 'common.yaml')));
  expect(await check()).toMatchObject({ exitCode: 0, err: '' });
});

test('check takes the whole git work tree for the project', async () => {
  writeFileSync(join(place, '.git'), 'gitdir: /somewhere/else\n');
  writeFileSync(join(cwd, 'p.yaml'), MAIN.replace('common.yaml', '../outside.yaml'));
  expect(await check()).toMatchObject({ exitCode: 0, err: '' });
});

test.each([
  ['[]', 'it is a list, but an included file must be a map'],
  ['steps', 'it is a string, but an included file must be a map'],
  ['# only a comment', 'it is empty, but an included file must be a map'],
  ['steps: [a]', '`steps` of an included file is a list instead of a map'],
  ['include: 3', '`include` is 3 instead of a path, or a list of paths'],
])('check rejects an included file of %j', async (text, reason) => {
  writeFileSync(join(cwd, 'common.yaml'), `${text}\n`);
  expect(await check()).toMatchObject({ exitCode: 2, err: expect.stringContaining(reason) });
});

test('openPipelineFiles reads the main file from a pipe of the shell, and from no other', () => {
  writeFileSync(join(cwd, 'p.yaml'), MAIN.replace('include: common.yaml\n', ''));
  const script = 'cat "$1" | "$0" bin/sluice.js check /dev/stdin';
  const given = ['-c', script, process.execPath, join(cwd, 'p.yaml')];
  const shown = execFileSync('sh', given, { encoding: 'utf8', cwd: PACKAGE });
  expect(shown).toContain('/dev/stdin is valid: 1 step');
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  expect(openPipelineFiles('pipe', { cwd }).readMain()).toMatchObject({
    ok: false,
    error: expect.stringMatching(/FIFO/),
  });
  expect(openPipelineFiles('/dev/zero', { cwd }).readMain()).toMatchObject({ error: expect.stringMatching(/device/) });
});

const PACKAGE = new URL('../..', import.meta.url).pathname;

test('check shows the first 20 errors, and counts the others', async () => {
  const keys = Array.from({ length: 50_000 }, (_, at) => `key${at}: 1\n`);
  writeFileSync(join(cwd, 'p.yaml'), `version: 1\nname: demo\n${keys.join('')}steps:\n  fit: { command: [x] }\n`);
  const { err } = await check();
  expect(err.match(/\[unknown-key\]/g)).toHaveLength(20);
  expect(err).toContain('and 49,980 more errors\n\n50,000 errors in p.yaml');
  const { out } = await check('--json');
  expect(out.trimEnd().split('\n')).toHaveLength(1001);
  expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toEqual({
    schema: 1,
    type: 'omitted',
    errors: 49_000,
    warnings: 0,
  });
});

test('check takes a file that only lacks values of its parameters, and names them', async () => {
  writeFileSync(
    join(cwd, 'p.yaml'),
    'version: 1\nname: demo\nparams: { n: { type: integer } }\nsteps:\n  fit: { command: [x] }\n',
  );
  const { exitCode, out, err } = await check();
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toContain(
    'p.yaml is valid; a run needs values for its parameters:\nparameter `n` has no value and no default',
  );
  expect(await check('-p', 'n=x')).toMatchObject({ exitCode: 2, err: expect.stringContaining('not of type integer') });
});
