import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mount } from '../../../src/engines/engine.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));
const tasksSource = fileURLToPath(new URL('./tasks.c', import.meta.url));
const compiler = process.env.CC ?? 'cc';
const hasCompiler = spawnSync(compiler, ['--version']).status === 0;
const isBuilt = existsSync(launcherPath) || process.env.CI === 'true';

describe.runIf(isBuilt)('Process engine without namespaces', () => {
  const create = () => createProcessEngine({ launcherPath, launcher: 'native', mountsBy: 'translation' });
  const rig = new EngineRig(create);
  beforeAll(() => rig.open());
  afterAll(() => rig.close());

  async function mount(name: string, target: string): Promise<Mount> {
    return { root: await rig.makeDirectory(name), subPath: '', kind: 'dir', target };
  }

  /** Runs JavaScript, which prints a value as JSON. */
  async function evaluate(script: string, mounts: readonly Mount[]): Promise<unknown> {
    const lines = `const fs = require('node:fs'); (async () => { ${script} })().then((it) => console.log(JSON.stringify(it)))`;
    const container = await rig.launch({ command: [process.execPath, '-e', lines], mounts });
    const end = await container.end();
    const text = await container.text();
    expect(end, text).toEqual({ kind: 'exited', exitCode: 0 });
    return JSON.parse(text);
  }

  test('a script in a volume starts under the name that it was given, with an interpreter from there too', async () => {
    const tools = await mount('scripts', '/in/tools');
    await rig.write('scripts/plain', '#!/bin/sh\necho "$0 $*"\n', 0o755);
    await rig.write('scripts/runner', '#!/bin/sh -e\necho "runner $0 $*"\n', 0o755);
    await rig.write('scripts/nested', '#!/in/tools/runner  with a word \n', 0o755);
    await rig.write('scripts/not-executable', '#!/bin/sh\necho wrong\n', 0o644);
    const container = await rig.run(
      '/in/tools/plain a "b c"; cd /in/tools; ./plain x; PATH=/in/tools plain y; ./nested z; ./not-executable || echo $?',
      { mounts: [tools] },
    );
    const lines = (await container.text()).trim().split('\n');
    expect(lines.filter((line) => !line.includes('ermission'))).toEqual([
      '/in/tools/plain a b c',
      './plain x',
      '/in/tools/plain y',
      'runner /in/tools/runner with a word ./nested z',
      '126',
    ]);
  });

  test('a program finds its files also where the kernel tells of its start before its birth', async () => {
    const mounts = [await mount('births', '/in/births')];
    await rig.write('births/f', 'text');
    // The order is the kernel's choice: several shells at once, each of which starts many programs.
    const script = `
      worker() { read -r _ < /in/births/f; n=0; while [ $n -lt 300 ]; do cat /in/births/f >/dev/null || echo failed; n=$((n+1)); done; }
      for w in 1 2 3 4; do worker & done; wait; echo done`;
    const container = await rig.run(script, { mounts });
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('done\n');
  });

  test('links lead where they would in the container, and what names a directory names that of the container', async () => {
    const mounts = [await mount('links-in', '/in/data'), await mount('links-out', '/out')];
    await rig.write('links-in/f', 'text');
    const script = `
      fs.symlinkSync('/in/data/f', '/tmp/absolute');
      fs.symlinkSync('../in/data', '/out/up');
      fs.symlinkSync('loop', '/out/loop');
      process.chdir('/out/up');
      const code = (call) => { try { call(); } catch (error) { return error.code; } };
      return [
        fs.readFileSync('/tmp/absolute', 'utf8'),
        fs.readFileSync('/out/up/f', 'utf8'),
        fs.readFileSync('../../out/up/f', 'utf8'),
        process.cwd(),
        fs.readlinkSync('/proc/self/cwd'),
        fs.realpathSync.native('/out/up/f'),
        fs.readlinkSync('/tmp/absolute'),
        fs.readlinkSync('/proc/self/fd/' + fs.openSync('/out/up/f')),
        fs.existsSync('/proc/self/cwd/f'),
        code(() => fs.readFileSync('/out/loop')),
        code(() => fs.readFileSync('/out/' + 'x'.repeat(300))),
        code(() => fs.readFileSync('/in/data/missing/../f')),
        code(() => fs.rmdirSync('/in/data')),
        code(() => fs.renameSync('/in/data', '/in/other')),
        fs.readdirSync('/in'),
      ];`;
    expect(await evaluate(script, mounts)).toEqual([
      ...['text', 'text', 'text', '/in/data', '/in/data', '/in/data/f', '/in/data/f', '/in/data/f', true],
      ...['ELOOP', 'ENAMETOOLONG', 'ENOENT', 'EBUSY', 'EBUSY', ['data']],
    ]);
  });

  test('files are made, moved, linked, changed and removed in the volume', async () => {
    const script = `
      const { constants } = fs;
      fs.mkdirSync('/out/a/b', { recursive: true });
      fs.writeFileSync('/out/a/f', 'one');
      fs.linkSync('/out/a/f', '/out/a/hard');
      fs.renameSync('/out/a/f', '/out/a/b/g');
      fs.copyFileSync('/out/a/b/g', '/tmp/g');
      fs.appendFileSync('/out/a/hard', ' two');
      fs.truncateSync('/out/a/hard', 5);
      fs.chmodSync('/out/a/hard', 0o600);
      fs.utimesSync('/out/a/hard', 7, 7);
      fs.accessSync('/out/a/hard', constants.W_OK);
      fs.cpSync('/out/a', '/out/copy', { recursive: true });
      fs.rmSync('/out/a/b', { recursive: true });
      const { size, mode, mtimeMs, nlink } = fs.statSync('/out/a/hard');
      return [size, mode & 0o777, mtimeMs, nlink, fs.readFileSync('/tmp/g', 'utf8'), fs.statfsSync('/out').type > 0];`;
    expect(await evaluate(script, [await mount('made', '/out')])).toEqual([5, 0o600, 7000, 1, 'one', true]);
    expect(await rig.read('made/copy/b/g')).toBe('one t');
    expect(existsSync(join(rig.directory, 'made/a/b'))).toBe(false);
  });

  test('threads that use many files at once mix up none', async () => {
    const script = `
      const names = Array.from({ length: 400 }, (_, index) => '/out/f' + index);
      await Promise.all(names.map((name) => fs.promises.writeFile(name, name)));
      const read = await Promise.all(names.map((name) => fs.promises.readFile(name, 'utf8')));
      return read.filter((text, index) => text !== names[index]).length;`;
    expect(await evaluate(script, [await mount('threads', '/out')])).toBe(0);
  });

  test.runIf(hasCompiler)(
    'tasks that share their memory each open their own file, leave none of it mapped, and see their own paths',
    async () => {
      const tools = await mount('task-tools', '/tools');
      const { status, stderr } = spawnSync(compiler, ['-O1', '-pthread', '-o', join(tools.root, 'tasks'), tasksSource]);
      expect(status, stderr.toString()).toBe(0);
      const volume = await mount('tasks', '/v');
      for (const name of ['0', '1', '2', '3']) await rig.write(`tasks/${name}`, `/v/${name}`);
      const container = await rig.run('exec /tools/tasks', { mounts: [tools, volume] });
      expect((await container.text()).split('\n')).toEqual([
        ...['wrong 0', 'bounded', 'file', 'bound at /v/socket, 1', 'connected to /v/socket'],
        ...['accepted /v/client1', 'accepted /v/client0', 'received from /v/sends, 1', ''],
      ]);
    },
  );

  test('a unix socket at a mount point is met by its path, however long that of the volume is', async () => {
    const name = `sockets-${'x'.repeat(90)}`;
    const script = `
      const net = require('node:net');
      const server = net.createServer((socket) => socket.end('hello')).listen('/out/socket');
      await new Promise((resolve) => server.once('listening', resolve));
      const text = await new Promise((resolve) => net.connect('/out/socket').on('data', (data) => resolve(String(data))));
      server.close();
      return text;`;
    expect(await evaluate(script, [await mount(name, '/out')])).toBe('hello');
  });

  test('containers with equal mount points each have their own volume', async () => {
    const containers = await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const mounts = [await mount(`equal-${index}`, '/out')];
        return rig.run(`echo ${index} > /out/f; sleep 0.2; cat /out/f`, { mounts });
      }),
    );
    expect(await Promise.all(containers.map((container) => container.text()))).toEqual(
      containers.map((_, index) => `${index}\n`),
    );
  });

  test('a first process killed with -9 takes every process of its container with it', async () => {
    const volume = await mount('alive', '/v');
    const alive = await rig.makeFifo('alive/fifo');
    const script = '(setsid sh -c "exec 9>/v/fifo; echo up; while :; do sleep 1; done" &); while :; do sleep 1; done';
    const container = await rig.launch({ command: ['sh', '-c', script], mounts: [volume] });
    await rig.untilLog(container, 'up');
    const [pid] = (await readlink(join(container.launch.directory, 'claim'))).split(' ');
    process.kill(Number(pid), 'SIGKILL');
    expect(await container.end()).toMatchObject({ kind: 'fault', reason: expect.stringContaining('no exit record') });
    await alive.closed;
  });

  test('says how it works here', () => {
    expect(rig.engine.warnings?.()).toEqual([expect.stringContaining('without isolation')]);
  });

  test('a process that is stopped and continued goes on', async () => {
    const script = 'sh -c "kill -STOP \\$\\$; cat /v/f" & sleep 0.2; kill -CONT $!; wait $!';
    const volume = await mount('stopped', '/v');
    await rig.write('stopped/f', 'went on\n');
    expect(await (await rig.run(script, { mounts: [volume] })).text()).toBe('went on\n');
    expect(await readFile(join(volume.root, 'f'), 'utf8')).toBe('went on\n');
  });
});
