import { mkdir, mkdtemp, readFile, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Container } from '@sluice/client';
import type { Step } from '@sluice/core';
import { createSystemDisk, explainStep } from '@sluice/home';
import { describeStatus, type RunReport } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { pullOutput } from '../../src/data/pull-output.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import { cells, change, createChangeRig, filesOf, make, read, run, write } from './change-rig.ts';
import { planOf } from './temporary-world.ts';

/** A service that mounts everything read-write, whatever is asked. */
const UNPROTECTED = { features: [] };
const CHANGED =
  'could not publish: input data (make.data) was changed while the attempt ran: n was changed; ' +
  'set `writable: true` on the input, so that each attempt writes to a private copy';
const REFUSED =
  'could not start on input data (make.data): an earlier attempt changed it: n was changed; ' +
  'set `writable: true` on the input of the step that writes to it, and start a new run to recreate the data';
const readOnly = (more: Partial<Step> = {}) => change(more, false);
const messages = (report: RunReport) => report.failures.map(({ message }) => message);
const states = (report: RunReport) =>
  Object.fromEntries(
    report.steps.flatMap(({ step: name, cells }) =>
      cells.map((cell) => [`${name}/${cell.cell}`, describeStatus(cell)]),
    ),
  );
const cached = { ...make, cache: { ignore: [] } };

describe('an input on a service that cannot mount it read-only', () => {
  test('fails the attempt that changes it, and no later cell ever gets it: not 60, 600, 6000', async () => {
    const rig = createChangeRig(UNPROTECTED);
    const plan = createHandPlan([make, readOnly({ matrix: cells, parallelism: 1 })], { failFast: false });
    const report = await run(rig, plan);
    expect(messages(report)).toEqual([CHANGED, REFUSED, REFUSED]);
    expect(rig.created()).toHaveLength(2);
    expect(Object.keys(filesOf(rig)).filter((name) => name.startsWith('out/change'))).toEqual([]);
  });

  test('fails every attempt that ran while it was changed', async () => {
    const rig = createChangeRig(UNPROTECTED);
    const plan = createHandPlan([make, readOnly({ matrix: cells })], { failFast: false });
    expect(messages(await run(rig, plan))).toEqual([CHANGED, CHANGED, CHANGED]);
  });

  test('is not gathered from cells of which one was changed before the directory of all was mounted', async () => {
    const plan = planOf(`
axes: { sample: [A, B] }
steps:
  make: { each: sample, command: [make], outputs: [data] }
  change: { each: sample, inputs: { data: make.data }, command: [change] }
  wait: { command: [wait] }
  gather: { inputs: { data: make.data }, needs: [wait], command: [gather], outputs: [all] }
  copy: { inputs: { data: { from: make.data, writable: true } }, needs: [wait], command: [copy], outputs: [all] }
`);
    const rig = createRig('gathered', {
      ...UNPROTECTED,
      behave: {
        make: { work: (container) => write(rig, container, { at: '/out/data', name: 'n', text: '6' }) },
        change: {
          work(container) {
            if (container.labels?.['sluice-cell'] === 'A')
              write(rig, container, { at: '/in/data', name: 'n', text: '60' });
          },
        },
        wait: { runMs: 60_000 },
      },
    });
    const report = await run(rig, plan);
    expect(states(report)).toMatchObject({ 'change/A': 'failed', 'change/B': 'succeeded' });
    expect(states(report)).toMatchObject({ 'gather/': 'failed', 'copy/': 'failed' });
    expect(messages(report)).toEqual([CHANGED, REFUSED, REFUSED]);
  });

  test('is left alone by private copies: 60, 60, 60', async () => {
    const rig = createChangeRig(UNPROTECTED);
    expect((await run(rig, createHandPlan([make, change({ matrix: cells })]))).status).toBe('succeeded');
    const written = Object.entries(filesOf(rig)).filter(([name]) => name.startsWith('out/change'));
    expect(written.map(([, text]) => text)).toEqual(['60', '60', '60']);
  });

  test('is never given to a retry of the attempt that changed it', async () => {
    const rig = createChangeRig(UNPROTECTED);
    const retry = { ...make.retry, limit: 3 };
    expect(messages(await run(rig, createHandPlan([make, readOnly({ retry })])))).toEqual([CHANGED, REFUSED]);
  });

  test('is compared after an attempt that failed, too', async () => {
    const rig: Rig = createChangeRig({
      ...UNPROTECTED,
      behave: {
        // It changes its input, and then has no result to show.
        change: { work: (container) => write(rig, container, { at: '/in/data', name: 'n', text: '7' }) },
        other: {},
      },
    });
    const results = { score: { type: 'string' as const, file: 'score' } };
    const other = createStep('other', {
      ...readOnly({ needs: [{ step: 'change', condition: 'completed' }] }),
      name: 'other',
    });
    const report = await run(rig, createHandPlan([make, readOnly({ results }), other], { failFast: false }));
    expect(messages(report)).toEqual([CHANGED, REFUSED]);
  });

  test('fails a step that leaves nothing behind, too', async () => {
    const rig: Rig = createChangeRig({
      ...UNPROTECTED,
      behave: { change: { work: (container) => write(rig, container, { at: '/in/data', name: 'extra', text: '' }) } },
    });
    const report = await run(rig, createHandPlan([make, readOnly({ outputs: {} })]));
    expect(messages(report)).toEqual([CHANGED.replace('n was changed', 'extra was added')]);
  });

  test.each([
    ['cache', cached, {}],
    ['reuse', make, { from: [] }],
  ])('is made again by the next run, which %s would have given it', async (_, step, reuse) => {
    const rig = createChangeRig(UNPROTECTED);
    const first = await run(rig, createHandPlan([step, readOnly()]));
    expect(first.status).toBe('failed');
    const more = 'from' in reuse ? { reuse: { runId: first.runId, from: [] } } : {};
    const second = await run(rig, createHandPlan([step, change()]), more);
    expect(states(second)).toEqual({ 'make/': 'succeeded', 'change/': 'succeeded' });
    const explained = await explainStep({ disk: rig.disk, home: '/home', runId: second.runId, step: 'make' });
    expect(explained.ok && explained.value.cache).toMatchObject({ kind: 'missed', cause: 'dataChanged' });
  });

  test('is reused while it is as it was, and protected over all the runs that use it', async () => {
    const rig = createChangeRig({ ...UNPROTECTED, behave: { look: {} } });
    const look = createStep('look', { ...readOnly(), name: 'look' });
    const plan = createHandPlan([cached, look]);
    await run(rig, plan);
    expect(states(await run(rig, plan))).toEqual({ 'make/': 'reused', 'look/': 'succeeded' });
    expect(messages(await run(rig, createHandPlan([cached, readOnly()])))).toEqual([CHANGED]);
    expect(states(await run(rig, plan))).toEqual({ 'make/': 'succeeded', 'look/': 'succeeded' });
  });

  test('that a canceled attempt changed is not reused', async () => {
    const rig: Rig = createChangeRig({ ...UNPROTECTED, behave: { change: { runMs: 60_000 } } });
    const started = await rig.go(
      startRun({ ...rig.options, plan: createHandPlan([cached, readOnly()]), baseDir: '/' }),
    );
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length === 2);
    write(rig, rig.created()[1]!.wire, { at: '/in/data', name: 'n', text: '7' });
    started.value.cancel('a test');
    expect((await rig.go(started.value.finished)).status).toBe('canceled');
    expect(states(await run(rig, createHandPlan([cached])))).toEqual({ 'make/': 'succeeded' });
  });

  test('that was changed while no runner was there fails the attempt after a resume', async () => {
    const rig: Rig = createChangeRig({ ...UNPROTECTED, behave: { change: { runMs: 60_000 } } });
    const started = await rig.go(startRun({ ...rig.options, plan: createHandPlan([make, readOnly()]), baseDir: '/' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length === 2);
    await rig.go(started.value.suspend());
    write(rig, rig.created()[1]!.wire, { at: '/in/data', name: 'n', text: '7' });
    const resumed = await rig.go(resumeRun({ ...rig.options, runId: started.value.runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    expect(messages(await rig.go(resumed.value.finished))).toEqual([CHANGED]);
  });

  test('may be a fan-in of cells, whose manifest the runner writes beside them', async () => {
    const rig = createChangeRig({ ...UNPROTECTED, behave: { change: {} } });
    const plan = createHandPlan([{ ...cached, matrix: cells }, readOnly()]);
    expect((await run(rig, plan)).status).toBe('succeeded');
    expect((await run(rig, plan)).status).toBe('succeeded');
    const wider = { ...cells, axes: { n: [1, 2, 3, 4] } };
    expect((await run(rig, createHandPlan([{ ...cached, matrix: wider }, readOnly()]))).status).toBe('succeeded');
  });

  test('costs a list for each directory before the first attempt and after each', async () => {
    const rig = createChangeRig({ ...UNPROTECTED, behave: { change: {} } });
    await run(rig, createHandPlan([make, readOnly({ matrix: cells, parallelism: 1 })]));
    // Two more at the end of the run, which looks for empty outputs.
    expect(rig.simulated.calls.get('files.list')).toBe(4 + 2);
    const protectedRig = createChangeRig({ behave: { change: {} } });
    await run(protectedRig, createHandPlan([make, readOnly({ matrix: cells, parallelism: 1 })]));
    expect(protectedRig.simulated.calls.get('files.list')).toBe(2);
  });
});

describe('what was changed on a service that cannot mount read-only', () => {
  let base: string;
  const local = async (use: () => Promise<void>) => {
    base = await mkdtemp(path.join(tmpdir(), 'sluice-guard-'));
    try {
      await mkdir(path.join(base, 'raw'));
      await writeLocal(path.join(base, 'raw', 'n'), '6');
      await use();
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  };
  const withHome = (rig: Rig): Rig => ({
    ...rig,
    options: { ...rig.options, home: path.join(base, 'home'), disk: createSystemDisk() },
  });

  test('is a source that the next run uploads again', () =>
    local(async () => {
      const seen: (string | undefined)[] = [];
      const work = (container: Container) => {
        seen.push(read(rig, container, { at: '/in/data', name: 'n' }));
        write(rig, container, { at: '/in/data', name: 'n', text: '7' });
      };
      const rig: Rig = withHome(createRig('source', { ...UNPROTECTED, realTime: true, behave: { change: { work } } }));
      const input = { from: { volume: 'raw', path: '' }, path: '/in/data' };
      const volumes = { raw: { source: './raw', retain: true } };
      const plan = createHandPlan([readOnly({ inputs: { data: input } })], { volumes });
      const first = await run(rig, plan, { baseDir: base });
      expect(messages(first)).toEqual([CHANGED.replace('make.data', 'volumes.raw')]);
      await run(rig, plan, { baseDir: base });
      expect(seen).toEqual(['6', '6']);
    }));

  test('is never delivered, neither by publish nor by pull', () =>
    local(async () => {
      const rig: Rig = withHome(createChangeRig({ ...UNPROTECTED, realTime: true }));
      const plan = createHandPlan([make, readOnly({ continueOnError: true })], {
        outputs: { data: { from: { step: 'make', output: 'data' }, publish: './results' } },
      });
      const report = await run(rig, plan, { baseDir: base });
      expect(report.outputs.data?.notPublished).toContain('a container has changed the published data: n was changed');
      const { home, disk, service } = rig.options;
      const pulled = await pullOutput({ home, disk: disk!, service, runId: report.runId, output: 'data', to: base });
      expect(pulled).toMatchObject({ ok: false, error: { code: 'SERVICE_REJECTED' } });
      await expect(readFile(path.join(base, 'results', 'n'))).rejects.toThrow('ENOENT');
    }));
});
