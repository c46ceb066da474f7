import { mkdtemp, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Container, ServiceError } from '@sluice/client';
import type { Step } from '@sluice/core';
import { createSystemDisk, explainStep } from '@sluice/home';
import { describeStatus } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { collectGarbage } from '../../src/gc/collect-garbage.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createMemoryVolume, writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import { cells, change, createChangeRig, filesOf, make, READ_ONLY, read, run, write } from './change-rig.ts';

const labelOf = (rig: Rig, step: string) =>
  rig.created().find(({ wire }) => wire.labels?.['sluice-step'] === step)!.wire.labels!['sluice-writable-mounts'];

describe('mounts of a service that mounts read-only on request', () => {
  test('ask for everything to be read-only but what the step leaves and may write to', async () => {
    const rig = createRig('label', READ_ONLY);
    const shared = {
      from: { volume: 'shared', path: '' },
      path: '/shared',
      writable: true,
    } as const;
    const step = change(
      {
        results: { score: { type: 'string', file: 'score' } },
        inputs: {
          data: { from: { step: 'make', output: 'data' }, path: '/in/data' },
          copy: { from: { step: 'make', output: 'data' }, path: '/in/copy', writable: true },
          given: { from: { volume: 'given', path: '' }, path: '/in/given' },
          shared,
        },
      },
      false,
    );
    const plan = createHandPlan([make, step], {
      volumes: { shared: { retain: true }, given: { id: 'v-given', retain: true } },
    });
    (rig.simulated.volumes as Map<string, ReturnType<typeof createMemoryVolume>>).set('v-given', createMemoryVolume());
    await run(rig, plan);
    expect(JSON.parse(labelOf(rig, 'make')!)).toEqual(['/data']);
    expect(JSON.parse(labelOf(rig, 'change')!)).toEqual(['/in/copy', '/shared', '/out', '/sluice/results']);
  });

  test('are not asked for where the service does not announce it', async () => {
    const rig = createChangeRig({ features: [] });
    await run(rig, createHandPlan([make]));
    expect(labelOf(rig, 'make')).toBeUndefined();
  });
});

describe('a step that writes to a shared volume', () => {
  test('is never reused, and why says so', async () => {
    const rig = createChangeRig({ ...READ_ONLY, behave: { change: {} } });
    const shared = { from: { volume: 'shared', path: '' }, path: '/shared', writable: true } as const;
    const plan = createHandPlan([make, change({ inputs: { shared } })], { volumes: { shared: { retain: true } } });
    const first = await run(rig, plan);
    const second = await run(rig, plan, { reuse: { runId: first.runId, from: [] } });
    expect(second.steps.map((step) => `${step.step} ${describeStatus(step)}`)).toEqual([
      'make reused',
      'change succeeded',
    ]);
    const { runId } = second;
    const explained = await explainStep({ disk: rig.disk, home: '/home', runId, step: 'change' });
    expect(explained.ok && explained.value.cache).toMatchObject({ kind: 'missed', cause: 'writesShared' });
  });
});

describe('a private copy', () => {
  test('is what each cell writes to: three cells that append to the same input each find the original', async () => {
    const rig = createChangeRig();
    const report = await run(rig, createHandPlan([make, change({ matrix: cells })]));
    expect(report.status).toBe('succeeded');
    expect(filesOf(rig)).toEqual({
      'out/make/data/n': '6',
      'out/change/out/n-1/n': '60',
      'out/change/out/n-2/n': '60',
      'out/change/out/n-3/n': '60',
    });
  });

  test('is created for each attempt', async () => {
    let attempts = 0;
    const rig: Rig = createChangeRig({
      ...READ_ONLY,
      behave: {
        change: {
          work(container) {
            attempts++;
            expect(read(rig, container, { at: '/in/data', name: 'n' })).toBe('6');
            write(rig, container, { at: '/in/data', name: 'n', text: '60' });
            // The first attempt leaves no result, and fails for it.
            if (attempts > 1) write(rig, container, { at: '/sluice/results', name: 'score', text: 'ok' });
          },
        },
      },
    });
    const results = { score: { type: 'string' as const, file: 'score' } };
    const retry = { ...make.retry, limit: 1 };
    const report = await run(rig, createHandPlan([make, change({ results, retry })]));
    expect(report.status).toBe('succeeded');
    expect(attempts).toBe(2);
  });

  test('has all cells of a fan-in, also those that are reused', async () => {
    const fit = (matrix: Step['matrix']) => ({ ...make, matrix: matrix!, cache: { ignore: [] } });
    const seen: string[] = [];
    const work = (container: Container) => {
      const [key = ''] = Object.keys(container.volumeMounts ?? {});
      const [volume = '', at = ''] = key.split(':');
      expect(at).toMatch(/^runs\/[^/]+\/private\/change\/a1\/data$/);
      const files = [...rig.simulated.volumes.get(volume)!.files.keys()].filter((name) => name.startsWith(`${at}/`));
      seen.splice(0, seen.length, ...files.map((name) => name.slice(at.length + 1)).sort());
    };
    const rig: Rig = createChangeRig({ ...READ_ONLY, behave: { change: { work } } });
    await run(rig, createHandPlan([fit({ ...cells, axes: { n: [1, 2] } }), change()]));
    expect(seen).toEqual(['manifest.json', 'n-1/n', 'n-2/n']);
    await run(rig, createHandPlan([fit(cells), change()]));
    expect(rig.created()).toHaveLength(5);
    expect(seen).toEqual(['manifest.json', 'n-1/n', 'n-2/n', 'n-3/n']);
  });

  test('is deleted with its attempt, also when that is canceled', async () => {
    const rig = createChangeRig({ ...READ_ONLY, behave: { change: { runMs: 60_000 } } });
    const started = await rig.go(startRun({ ...rig.options, plan: createHandPlan([make, change()]), baseDir: '/' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length === 2);
    const isCopy = (name: string) => name.includes('/private/');
    const [volume] = [...rig.simulated.volumes.values()];
    expect([...volume!.files.keys()].filter(isCopy)).toHaveLength(1);
    started.value.cancel('a test');
    expect((await rig.go(started.value.finished)).status).toBe('canceled');
    expect([...volume!.files.keys(), ...volume!.directories].filter(isCopy)).toEqual([]);
  });

  test('that an earlier runner made is used after a resume, and deleted at the end', async () => {
    const rig = createChangeRig({ ...READ_ONLY, behave: { change: { runMs: 60_000 } } });
    const started = await rig.go(startRun({ ...rig.options, plan: createHandPlan([make, change()]), baseDir: '/' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length === 2);
    await rig.go(started.value.suspend());
    const [volume] = [...rig.simulated.volumes.values()];
    const { runId } = started.value;
    // What a runner that died in the middle may have left of an attempt that ended before.
    writeFile(volume!, `runs/${runId}/private/change/a0/data/n`, Buffer.from('old'));
    const resumed = await rig.go(resumeRun({ ...rig.options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect((await rig.go(resumed.value.finished)).status).toBe('succeeded');
    expect(rig.simulated.calls.get('files.copy')).toBe(1);
    expect([...volume!.files.keys()].filter((name) => name.includes('/private/'))).toEqual([]);
  });

  test('that could not be deleted at the end of its run is deleted by gc', async () => {
    const rig = createChangeRig();
    const volumes = rig.options.service.volumes;
    let isAway = true;
    const files: typeof volumes.files = (ref, login) => {
      const open = volumes.files(ref, login);
      const reject = () => Promise.reject(new ServiceError('UNAVAILABLE', 'it is away'));
      return { ...open, remove: (at) => (isAway ? reject() : open.remove(at)) };
    };
    const service = { ...rig.options.service, volumes: { ...volumes, files } };
    const report = await run({ ...rig, options: { ...rig.options, service } }, createHandPlan([make, change()]));
    expect(report.warnings?.map(({ message }) => message).join()).toContain('could not delete the private copies');
    const [volume] = [...rig.simulated.volumes.values()];
    const copies = () => [...volume!.files.keys()].filter((name) => name.includes('/private/'));
    expect(copies()).toHaveLength(1);
    isAway = false;
    const { disk, clock } = rig;
    await rig.go(collectGarbage({ service, home: '/home', olderThanMs: 86_400_000, disk, clock }));
    expect(copies()).toEqual([]);
    expect(Object.keys(filesOf(rig))).toContain('out/change/out/n');
  });

  test('of a step that may fail and left nothing is an empty directory', async () => {
    const rig = createChangeRig({ ...READ_ONLY, behave: { make: { end: 'Failed' }, change: {} } });
    const from = { step: 'make', output: 'data' };
    const data = { from, path: '/in/data', writable: true, optional: true } as const;
    const report = await run(rig, createHandPlan([{ ...make, continueOnError: true }, change({ inputs: { data } })]));
    expect(report.steps.find(({ step: name }) => name === 'change')?.status).toBe('succeeded');
  });

  test('is rejected with the reason where there is nothing to copy', async () => {
    const base = await mkdtemp(path.join(tmpdir(), 'sluice-writable-'));
    try {
      await writeLocal(path.join(base, 'a.txt'), 'a');
      const rig = createRig('absent', { ...READ_ONLY, realTime: true });
      const options = { ...rig.options, home: path.join(base, 'home'), disk: createSystemDisk() };
      const input = { from: { volume: 'raw', path: 'no/such' }, path: '/in/data', writable: true } as const;
      const plan = createHandPlan([change({ inputs: { data: input } })], {
        volumes: { raw: { source: 'a.txt', retain: true } },
      });
      const report = await run({ ...rig, options }, plan, { baseDir: base });
      expect(report.failures.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /^could not create a private copy of input data of step change: could not find sources\//,
        ),
      ]);
      expect(rig.created()).toEqual([]);
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  });
});
