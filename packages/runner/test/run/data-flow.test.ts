import { mkdir, mkdtemp, readFile, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Container, ServiceError } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { createSystemDisk } from '@sluice/home';
import { describeStatus, type RunReport } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { readOutputs } from '../../src/data/pull-output.ts';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

let base: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-data-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Writes the same file into every directory that the container may write to. */
function writes(rig: () => Rig, name: string, text: string): (container: Container) => void {
  return (container) => {
    for (const key of Object.keys(container.volumeMounts ?? {})) {
      const [volume = '', at = '', option] = key.split(':');
      if (option === 'dir') writeFile(rig().simulated.volumes.get(volume)!, `${at}/${name}`, Buffer.from(text));
    }
  };
}

async function run(rig: Rig, plan: Plan): Promise<RunReport> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: base }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

const mountsOf = (rig: Rig, step: string) =>
  rig
    .created()
    .filter(({ wire }) => wire.labels?.['sluice-step'] === step)
    .map(({ wire }) => wire.volumeMounts ?? {});
const cellsOf = (report: RunReport, step: string) => report.steps.find(({ step: name }) => name === step)?.cells ?? [];

const fit = createStep('fit', {
  matrix: { axes: { seed: [1, 2, 3] }, include: [], exclude: [] },
  outputs: { model: { path: '/model', retain: true } },
  results: { accuracy: { type: 'number', file: 'accuracy' } },
  cache: { ignore: [] },
});
const select = createStep('select', {
  inputs: { models: { from: { step: 'fit', output: 'model' }, path: '/in/models' } },
  outputs: { best: { path: '/best', retain: true } },
});
const FAN_IN = createHandPlan([fit, select], {
  outputs: { best: { from: { step: 'select', output: 'best' }, publish: './results' } },
});

function createFanRig(): Rig {
  const rig: Rig = createRig('data', {
    behave: {
      fit: { work: writes(() => rig, 'accuracy', '0.5\n') },
      select: { work: writes(() => rig, 'best.txt', 'the best') },
    },
  });
  return rig;
}

describe('a run with data', () => {
  test('publishes each cell, mounts the parent once, and lists the cells in a manifest', async () => {
    const rig = createFanRig();
    const report = await run(rig, { ...FAN_IN, pipeline: { ...FAN_IN.pipeline, outputs: {} } });
    expect(report.status).toBe('succeeded');
    const [volume] = [...rig.simulated.volumes.values()];
    const [parent] = Object.keys(mountsOf(rig, 'select')[0]!).filter((key) => key.includes('/out/'));
    const manifestFile = `${parent!.split(':')[1]}/manifest.json`;
    const manifest = JSON.parse(Buffer.from(volume!.files.get(manifestFile)!).toString());
    expect(manifest.cells).toMatchObject([
      { cell: 'seed-1', matrix: { seed: 1 }, status: 'succeeded', path: 'seed-1', results: { accuracy: 0.5 } },
      { cell: 'seed-2' },
      { cell: 'seed-3' },
    ]);
    expect(volume!.files.has(`${parent!.split(':')[1]}/seed-2/accuracy`)).toBe(true);
  });

  test('reuses cached cells in the next run and mounts the parent of the run that made them', async () => {
    const rig = createFanRig();
    const plan = { ...FAN_IN, pipeline: { ...FAN_IN.pipeline, outputs: {} } };
    const first = await run(rig, plan);
    const second = await run(rig, plan);
    expect(cellsOf(second, 'fit').map((cell) => [describeStatus(cell), cell.reusedFrom])).toEqual(
      [1, 2, 3].map(() => ['reused', first.runId]),
    );
    expect(cellsOf(second, 'fit')[0]?.results).toEqual({ accuracy: 0.5 });
    const keys = Object.keys(mountsOf(rig, 'select')[1]!);
    expect(keys.some((key) => key.endsWith(`runs/${first.runId}/out/fit/model`))).toBe(true);
  });

  test('mounts reused cells one by one beside new ones', async () => {
    const rig = createFanRig();
    const without = { ...FAN_IN, pipeline: { ...FAN_IN.pipeline, outputs: {} } };
    const first = await run(rig, without);
    const wider = { ...fit, matrix: { axes: { seed: [1, 2, 3, 4] }, include: [], exclude: [] } };
    await run(rig, createHandPlan([wider, select]));
    const mounts = mountsOf(rig, 'select')[1]!;
    const reused = Object.entries(mounts).filter(([key]) => key.includes(first.runId));
    expect(reused.map(([, at]) => at)).toEqual(['/in/models/seed-1', '/in/models/seed-2', '/in/models/seed-3']);
  });

  test('reuses its own cells although another pipeline has done the same since', async () => {
    const rig = createFanRig();
    const named = (name: string) => ({ ...FAN_IN, pipeline: { ...FAN_IN.pipeline, name, outputs: {} } });
    const first = await run(rig, named('one'));
    await run(rig, named('two'));
    const again = await run(rig, named('one'));
    expect(cellsOf(again, 'fit').map(({ reusedFrom }) => reusedFrom)).toEqual([1, 2, 3].map(() => first.runId));
  });

  test('takes a hit whose data is gone for a miss', async () => {
    const rig = createFanRig();
    const plan = { ...FAN_IN, pipeline: { ...FAN_IN.pipeline, outputs: {} } };
    const first = await run(rig, plan);
    const [volume] = [...rig.simulated.volumes.values()];
    for (const directory of [...volume!.directories]) {
      if (directory.startsWith(`runs/${first.runId}/out/fit`)) volume!.directories.delete(directory);
    }
    const second = await run(rig, plan);
    expect(cellsOf(second, 'fit').map(describeStatus)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  test('fails an attempt whose result is missing or of another type', async () => {
    const rig: Rig = createRig('result', { behave: { fit: { work: writes(() => rig, 'accuracy', 'high') } } });
    const report = await run(rig, createHandPlan([{ ...fit, matrix: undefined } as never]));
    expect(report.status).toBe('failed');
    expect(report.failures[0]?.message).toContain('result accuracy: "high" is not JSON');
  });
});

test('an attempt whose outputs a service never moves is lost, and not published for ever', async () => {
  const rig: Rig = createRig('rejected', { behave: { fit: { work: writes(() => rig, 'accuracy', '1') } } });
  const { volumes } = rig.options.service;
  const reject = async () => {
    throw new ServiceError('INVALID_REPLY', 'could not move: the transfer service replied 302', { status: 302 });
  };
  const service = {
    ...rig.options.service,
    volumes: {
      ...volumes,
      files: (...of: Parameters<typeof volumes.files>) => ({ ...volumes.files(...of), move: reject }),
    },
  };
  const plan = createHandPlan([{ ...fit, matrix: undefined } as never]);
  const report = await run({ ...rig, options: { ...rig.options, service } }, plan);
  expect(report.status).toBe('failed');
  expect(report.failures[0]).toMatchObject({ reason: 'infrastructure', message: expect.stringContaining('302') });
});

describe('uploads and local copies', () => {
  test('brings a source in once for each content, and the outputs out', async () => {
    await mkdir(path.join(base, 'raw', 'deep'), { recursive: true });
    await writeLocal(path.join(base, 'raw', 'a.txt'), 'a');
    await writeLocal(path.join(base, 'raw', 'deep', 'b.txt'), 'b');
    const use = createStep('use', {
      inputs: { raw: { from: { volume: 'raw', path: 'deep' }, path: '/in/raw' } },
      outputs: { out: { path: '/out', retain: true } },
    });
    const plan = createHandPlan([use], {
      volumes: { raw: { source: './raw', retain: true } },
      outputs: { result: { from: { step: 'use', output: 'out' }, publish: './results' } },
    });
    const rig: Rig = createRig('upload', {
      realTime: true,
      behave: { use: { work: writes(() => rig, 'result.txt', 'done') } },
    });
    const real = { ...rig, options: { ...rig.options, home: path.join(base, 'home'), disk: createSystemDisk() } };
    const report = await run(real, plan);
    expect(report.status).toBe('succeeded');
    expect(report.outputs.result?.publishedTo).toBe(path.join(base, 'results'));
    expect(await readFile(path.join(base, 'results', 'result.txt'), 'utf8')).toBe('done');
    const [mount] = Object.keys(mountsOf(rig, 'use')[0]!);
    expect(mount).toMatch(/:sources\/[0-9a-f]{40}\/files\/deep$/);
    await run(real, plan);
    const uploads = rig.events.filter((event) => event.type === 'transfer' && event.direction === 'upload');
    expect(uploads.filter((event) => event.type === 'transfer' && event.done && event.files > 0)).toHaveLength(1);
  });

  test('reads a run once for all of its outputs that are pulled', async () => {
    const use = createStep('use', { outputs: { out: { path: '/out', retain: true } } });
    const names = ['a', 'b', 'c'];
    const outputs = Object.fromEntries(names.map((name) => [name, { from: { step: 'use', output: 'out' } }]));
    const rig: Rig = createRig('pull', {
      realTime: true,
      behave: { use: { work: writes(() => rig, 'file', 'done') } },
    });
    const home = path.join(base, 'home');
    const disk = createSystemDisk();
    const real = { ...rig, options: { ...rig.options, home, disk } };
    const { runId } = await run(real, createHandPlan([use], { outputs }));
    const read: string[] = [];
    const counting = {
      ...disk,
      read: (file: string) => {
        read.push(path.basename(file));
        return disk.read(file);
      },
    };
    const found = await readOutputs(home, runId, counting);
    if (!found.ok) throw new Error(found.error.message);
    const before = read.filter((name) => name.includes('journal')).length;
    for (const name of found.value.names) {
      const to = path.join(base, 'pulled', name);
      expect(await found.value.pull(name, { service: rig.options.service, to })).toEqual({ ok: true, value: [] });
      expect(await readFile(path.join(to, 'file'), 'utf8')).toBe('done');
    }
    expect(before).toBeGreaterThan(0);
    expect(read.filter((name) => name.includes('journal'))).toHaveLength(before);
  });
});
