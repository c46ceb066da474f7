import { existsSync, writeFileSync } from 'node:fs';
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
    ['make.o/file', 'only whole outputs can be copied'],
    ['make.o.p', 'expected STEP, STEP/CELL, STEP.OUTPUT or STEP/CELL.OUTPUT'],
    [older!.runId, `select it with \`--run ${older!.runId}\``],
  ]) {
    expect(await place.sluice('pull', address!)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message!),
    });
  }
  expect(existsSync(join(place.directory, 'results'))).toBe(false);
});
