import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planMounts } from '../../../src/engines/process/mount-plan.ts';
import { createRewriter, rewriteRequest } from '../../../src/engines/process/rewrite-request.ts';

const rewrite = createRewriter(
  new Map([
    ['/out', '/host/o'],
    ['/out/inner', '/host/i'],
    ['/in/a+b', '/host/plus'],
    ['/tmp', '/host/t'],
  ]),
);

test.each([
  ['cat /out/x >/out/y', 'cat /host/o/x >/host/o/y'],
  ['--dir=/out', '--dir=/host/o'],
  ['/usr/bin:/out:/bin', '/usr/bin:/host/o:/bin'],
  ['/out/inner/f', '/host/i/f'],
  ["readFileSync('/in/a+b/f')", "readFileSync('/host/plus/f')"],
  ['/outer /out2 /out.txt /out-1 /home/out /x/out file:///out ./out', undefined],
  ['/tmp/out', '/host/t/out'],
])('createRewriter replaces whole mount points only: %s', (text, expected) => {
  expect(rewrite(text)).toBe(expected ?? text);
});

test('rewriteRequest lists mount points in a directory that the machine does not have, and rejects one in another', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-rewrite-'));
  await mkdir(join(directory, 'v'));
  await writeFile(join(directory, 'v/f'), 'text');
  const mount = (target: string) => ({ root: join(directory, 'v'), subPath: '', kind: 'dir' as const, target });
  const ask = (...more: string[]) => ({
    id: '1',
    key: 'k',
    directory,
    logPath: '',
    logLimitBytes: 0,
    workingDirectory: '/tmp',
    milliCores: 0,
    memoryBytes: 0,
    mounts: planMounts([mount('/no-such/fan/a'), mount('/no-such/fan/b'), ...more.map(mount)]),
    argv: ['ls', '/no-such/fan'],
    env: [],
  });
  const request = await rewriteRequest(ask());
  const listed = request.argv[1] ?? '';
  expect(await readdir(listed)).toEqual(['a', 'b']);
  expect(await readFile(join(listed, 'b/f'), 'utf8')).toBe('text');
  await expect(rewriteRequest(ask('/no-such/fan/b/inner'))).rejects.toThrow(
    "it is inside the mount point '/no-such/fan/b'",
  );
  await rm(directory, { recursive: true });
});
