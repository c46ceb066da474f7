import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorkplace, type Workplace } from './workplace-rig.ts';

let place: Workplace;

beforeEach(() => {
  place = createWorkplace();
});

afterEach(() => place.remove());

const TEXT = `
version: 1
name: p
steps:
  make: { command: [sh, -c, "echo made > /o/file"], outputs: { o: /o, more: /more } }
  fit:
    matrix: { k: [1, 2] }
    command: [sh, -c, "echo $0 > /m/k", "\${{ matrix.k }}"]
    outputs: { model: /m }
outputs: { best: make.o, make: fit.model }
`;

test('sluice pull copies declared outputs, outputs of steps and of cells', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), TEXT);
  expect(await place.sluice('run')).toMatchObject({ exitCode: 0 });
  const [older] = await place.runs();
  await place.sluice('run');
  const pulled = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await place.sluice('pull', ...args, '--to', 'to');
    expect(exitCode, stderr).toBe(0);
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split(' ')[0]]));
  };
  expect(await pulled()).toEqual(['best', 'make']);
  // A declared output comes before a step of the same name, whose outputs have longer names.
  expect(await pulled('make')).toEqual(['make']);
  expect(await pulled('make.o', 'fit', 'fit.model')).toEqual(['make.o', 'fit.model']);
  expect(JSON.parse(place.read('to/fit.model/manifest.json')).cells).toHaveLength(2);
  expect(await pulled('-r', older!.runId.slice(0, 8), 'fit/k-2.model')).toEqual(['fit/k-2.model']);
  expect(place.read('to/fit/k-2.model/k')).toBe('2\n');
  for (const [address, message] of [
    ['fit/k-3', 'has the outputs best, make, make.o, make.more, fit.model'],
    ['make.p', 'has the outputs best'],
    ['make.o/fil', 'could not copy make.o/fil: the output has no fil; did you mean `file`?'],
    ['make.o.p', 'expected STEP[/CELL][.OUTPUT[/PATH]]'],
    [older!.runId, `select it with \`--run ${older!.runId}\``],
  ]) {
    expect(await place.sluice('pull', address!)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message!),
    });
  }
  expect(existsSync(join(place.directory, 'results'))).toBe(false);
});

const TREE = `
version: 1
name: tree
steps:
  make:
    cache: true
    script: |
      mkdir -p /o/sub/deep
      echo 1 > /o/sub/a.txt
      echo 2 > /o/sub/deep/b.txt
      echo "$SLUICE_RUN_ID" > /o/run
      chmod +x /o/sub/a.txt
      ln -s sub/deep /o/inside
      ln -s ../../.. /o/outside
      ln -s outside/etc /o/through
      ln -s loop /o/loop
    outputs: { o: /o }
  fit:
    matrix: { k: [1, 2] }
    script: mkdir /m/w; echo "\${{ matrix.k }}" > /m/w/k
    outputs: { model: /m }
  hold: { needs: fit, approval: { message: "Go on?" } }
`;

test('sluice pull copies directories and files of outputs, also of a suspended run and of a reused step', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), TREE);
  for (const _ of ['made', 'reused']) {
    expect(await place.sluice('run', '--stop-at-approval')).toMatchObject({ exitCode: 75 });
    expect(await place.sluice('pull', 'make.o/sub', 'make.o/sub/deep/b.txt', '--to', 'to')).toMatchObject({
      exitCode: 0,
      stdout: 'make.o/sub  to/sub: 2 files, 4 B\nmake.o/sub/deep/b.txt  to/b.txt: 1 file, 2 B\n',
    });
    expect([place.read('to/sub/a.txt'), place.read('to/sub/deep/b.txt'), place.read('to/b.txt')]).toEqual([
      '1\n',
      '2\n',
      '2\n',
    ]);
  }
  expect(readdirSync(join(place.directory, 'to')).sort()).toEqual(['b.txt', 'sub']);
  const runs = await place.runs();
  await place.sluice('pull', 'make.o/run');
  expect(place.read('results/run')).toBe(`${runs[1]?.runId}\n`);
  const pulled = await place.sluice(
    'pull',
    'make.o/inside/b.txt',
    'fit.model/k-2/w/k',
    'fit.model/manifest.json',
    '--json',
  );
  const values = pulled.stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  expect(values, pulled.stderr).toEqual(
    [
      ['make.o', 'inside/b.txt', 'b.txt', 2],
      ['fit.model', 'k-2/w/k', 'k', 2],
      ['fit.model', 'manifest.json', 'manifest.json', expect.any(Number)],
    ].map(([output, path, to, bytes]) => {
      const value = { output, path, to: join(place.directory, 'results', String(to)), files: 1, bytes };
      return { schema: 1, type: 'download', ...value };
    }),
  );
  expect(await place.sluice('pull', 'fit/k-1.model/w/', 'make.o/')).toMatchObject({ exitCode: 0 });
  expect([place.read('results/k'), place.read('results/w/k')]).toEqual(['2\n', '1\n']);
  expect(JSON.parse(place.read('results/manifest.json')).cells).toHaveLength(2);
});

test('sluice pull leaves no output, and replaces no file that may not be its own', async () => {
  writeFileSync(join(place.directory, 'pipeline.yaml'), TREE);
  await place.sluice('run', '--stop-at-approval');
  writeFileSync(join(place.directory, 'a.txt'), 'by hand');
  for (const [address, message] of [
    ['make.o/../../etc', 'a path in an output has no empty name, no `.` and no `..`'],
    ['make.o/outside/etc', 'a link in this path leads out of the output'],
    ['make.o/through', 'a link in this path leads out of the output'],
    ['make.o/loop', 'a link in this path leads to itself'],
    ['make.o/sub/deep/c', 'could not copy make.o/sub/deep/c: sub/deep has no c; there is `b.txt`'],
    ['make.o/sub/a.txt/b', 'sub/a.txt is a file'],
    ['fit.model/k-3/w', 'the output has no k-3; did you mean `k-1`?'],
    ['make.o/sub/a.txt', 'something else exists there; remove it, or name another place'],
  ]) {
    expect(await place.sluice('pull', address!, '--to', '.'), address).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(message!),
    });
  }
  expect(place.read('a.txt')).toBe('by hand');
  expect(await place.sluice('pull', 'fit/k-1.model/w/k', 'fit/k-2.model/w/k')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('could not pull fit/k-1.model/w/k and fit/k-2.model/w/k to results: both copies'),
  });
});
