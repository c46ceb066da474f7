import { mkdir, mkdtemp, rm, writeFile as writeLocal } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Plan } from '@sluice/core';
import { type Disk, listRuns, openScheduleRecords } from '@sluice/home';
import type { RunReport } from '@sluice/run';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { collectGarbage } from '../../src/gc/collect-garbage.ts';
import { readRunRecords } from '../../src/gc/read-run-records.ts';
import { startRun } from '../../src/run/start-run.ts';
import { writeFile } from '../simulation/memory-files.ts';
import type { Rig } from '../simulation/rig.ts';
import { createGcRig } from './gc-rig.ts';

const DAY = 86_400_000;
let base: string;
beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'sluice-gc-'));
  await mkdir(path.join(base, 'raw'));
  await writeLocal(path.join(base, 'raw/a'), 'first');
});
afterEach(() => rm(base, { recursive: true, force: true }));

const make = createStep('make', {
  inputs: { raw: { from: { volume: 'raw', path: '' }, path: '/in/raw' } },
  outputs: { made: { path: '/made', retain: false } },
});
const volumes = { raw: { source: './raw', retain: true } };
const PLAN = createHandPlan([make], { volumes });
const CACHED = createHandPlan([{ ...make, cache: { ignore: [] } }], { volumes });

async function run(rig: Rig, plan: Plan): Promise<RunReport> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: base }));
  if (!started.ok) throw new Error(started.error.message);
  return rig.go(started.value.finished);
}

function collect(rig: Rig, more: Partial<Parameters<typeof collectGarbage>[0]> = {}) {
  const inDays = { ...rig.clock, wall: () => rig.clock.wall() + 40 * DAY };
  const { service, home, disk } = rig.options;
  return rig.go(collectGarbage({ service, home, disk: disk!, clock: inDays, olderThanMs: 30 * DAY, ...more }));
}

const inVolume = (rig: Rig) => [...rig.simulated.volumes.values()].flatMap(({ files }) => [...files.keys()]);
const listed = async (rig: Rig) => (await rig.go(listRuns('/home', rig.disk))).map(({ runId }) => runId);

describe('collectGarbage', () => {
  test('removes record, data and source of an old run; a dry run only says so', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const before = inVolume(rig);
    const dry = await collect(rig, { dryRun: true });
    expect(inVolume(rig)).toEqual(before);
    expect(await listed(rig)).toEqual([runId]);
    const report = await collect(rig);
    expect(report).toEqual(dry);
    expect(report.freed).toMatchObject([{ kind: 'run', runId }, { kind: 'source' }]);
    expect(report.freed.every(({ bytes }) => bytes > 0)).toBe(true);
    expect(inVolume(rig)).toEqual([]);
    expect([...rig.disk.files.keys()].filter((file) => file.includes(runId))).toEqual([]);
  });

  test('lists the runs and the schedules of the home as often for many runs as for one', async () => {
    const rig = createGcRig();
    const count = async (dryRun: boolean) => {
      const lists: string[] = [];
      const disk: Disk = {
        ...rig.disk,
        list(directory) {
          lists.push(directory);
          return rig.disk.list(directory);
        },
      };
      await collect(rig, { disk, dryRun });
      return lists.filter((directory) => ['/home/runs', '/home/schedules'].includes(directory)).length;
    };
    const first = await run(rig, PLAN);
    const one = await count(true);
    for (let runs = 1; runs < 5; runs++) await run(rig, PLAN);
    expect(await count(true)).toBe(one);
    expect(await count(false)).toBe(one);
    expect(await listed(rig)).not.toContain(first.runId);
  });

  test.each([
    ['no JSON', '{'],
    ['no list of files', '{"usedAt":1}'],
    ['a wrong time', '{"usedAt":"yesterday","files":[]}'],
  ])('removes an old run, and says that the mark of its source, with %s, is damaged', async (_what, content) => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const [volume] = rig.simulated.volumes.values();
    const [mark] = [...volume!.files.keys()].filter((file) => /^sources\/[^/]+\/[^/]+$/.test(file));
    writeFile(volume!, mark!, Buffer.from(content));
    const report = await collect(rig);
    expect(report.freed).toMatchObject([{ kind: 'run', runId }]);
    expect(report.problems).toEqual([
      expect.stringContaining(`could not read ${mark}, the mark of an uploaded source`),
    ]);
    expect(inVolume(rig)).toContain(mark);
  });

  test('keeps the source of a run that waits in its concurrency group', async () => {
    const rig = createGcRig();
    const concurrency = { group: 'one', limit: 1, overlap: 'queue' } as const;
    const slow = createHandPlan([make, createStep('wait', { approval: {} })], { volumes, concurrency });
    const first = await rig.go(startRun({ ...rig.options, plan: slow, baseDir: base }));
    if (!first.ok) throw new Error(first.error.message);
    await writeLocal(path.join(base, 'raw/a'), 'second');
    const waiting = startRun({ ...rig.options, plan: createHandPlan([make], { volumes, concurrency }), baseDir: base });
    await rig.until(() => rig.events.some((event) => event.type === 'warning' && event.message.includes('waiting')));
    const sources = () => inVolume(rig).filter((file) => file.endsWith('files/a'));
    expect(sources()).toHaveLength(2);
    expect((await collect(rig)).freed).toEqual([]);
    expect(sources()).toHaveLength(2);
    first.value.cancel('the test');
    await rig.go(first.value.finished);
    const second = await rig.go(waiting);
    if (!second.ok) throw new Error(second.error.message);
    expect(await rig.go(second.value.finished)).toMatchObject({ status: 'succeeded' });
    expect([...rig.disk.files.keys()].filter((file) => file.includes('/starting/'))).toEqual([]);
    expect((await collect(rig)).freed.map(({ kind }) => kind)).toContain('source');
  });

  test('keeps runs and sources of an account whose server cannot be asked, and says so', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const before = inVolume(rig);
    const unknown = [{ ...rig.options.scope, url: 'https://server.example', problem: 'no reply' }];
    const report = await collect(rig, { readElsewhere: async () => ({ runs: [], unknown }) });
    expect(report).toMatchObject({
      freed: [],
      kept: [{ runId, reason: 'a run on https://server.example may reuse its outputs' }],
      problems: [expect.stringMatching(/on https:\/\/server\.example may use: .*: no reply$/)],
    });
    expect(inVolume(rig)).toEqual(before);
  });

  test('keeps what a run uses that a server starts meanwhile, and its source', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const before = inVolume(rig);
    const [record] = await readRunRecords(rig.disk, '/home');
    const { endedAt, ...user } = { ...record!, runId: 'user', status: 'running' as const };
    const needs = { ...record!.needs!, runs: new Set([runId]) };
    let asked = 0;
    const readElsewhere = async () => ({ runs: asked++ === 0 ? [] : [{ ...user, needs }], unknown: [] });
    const report = await collect(rig, { readElsewhere });
    expect(report).toMatchObject({ freed: [], kept: [{ runId, reason: 'run user on a server reuses its outputs' }] });
    expect(inVolume(rig)).toEqual(before);
    expect((await collect(rig)).freed).toMatchObject([{ kind: 'run', runId }, { kind: 'source' }]);
  });

  test('keeps what is young, and the source that it mounts', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const before = inVolume(rig);
    const report = await collect(rig, { olderThanMs: 50 * DAY });
    expect(report).toMatchObject({ freed: [], kept: [{ runId, reason: 'it is too recent' }] });
    expect(inVolume(rig)).toEqual(before);
  });

  test('keeps a run with an output that is to be retained, and takes one in which there is none', async () => {
    const rig = createGcRig();
    const kept = createHandPlan([{ ...make, outputs: { made: { path: '/made', retain: true } } }], { volumes });
    const { runId } = await run(rig, kept);
    await run(rig, PLAN);
    const report = await collect(rig, { maxBytes: 0 });
    expect(report.kept).toMatchObject([{ runId, reason: 'its output make.made is to be retained' }]);
    expect(await listed(rig)).toEqual([runId]);
    expect(inVolume(rig).some((name) => name.includes(runId) && name.endsWith('made/file'))).toBe(true);
  });

  test('frees by size where nothing is old', async () => {
    const rig = createGcRig();
    const first = await run(rig, PLAN);
    await writeLocal(path.join(base, 'raw/a'), 'second');
    const second = await run(rig, PLAN);
    const whole = await collect(rig, { olderThanMs: 50 * DAY, maxBytes: 1e9, dryRun: true });
    expect(whole.freed).toEqual([]);
    const bytes = (await rig.disk.measure('/home/runs')).bytes + 9;
    const report = await collect(rig, { olderThanMs: 50 * DAY, maxBytes: bytes });
    expect(report.freed).toMatchObject([{ kind: 'run', runId: first.runId }]);
    expect(await listed(rig)).toEqual([second.runId]);
  });

  test('keeps what a later run has reused, and forgets the cache entries of what goes', async () => {
    const rig = createGcRig();
    const first = await run(rig, CACHED);
    const second = await run(rig, CACHED);
    expect(second.steps[0]?.cells[0]).toMatchObject({ status: 'succeeded', reused: true, reusedFrom: first.runId });
    rig.disk.files.set(
      `/home/runs/${second.runId}/summary.json`,
      Buffer.from(
        JSON.stringify({ pipeline: 'hand', createdAt: 0, status: 'succeeded', endedAt: Date.now() + 39 * DAY }),
      ),
    );
    const report = await collect(rig);
    expect(report.freed).toEqual([]);
    expect(report.kept).toContainEqual({
      runId: first.runId,
      pipeline: 'hand',
      reason: `run ${second.runId} reuses its outputs`,
    });
    expect((await collect(rig, { olderThanMs: 0 })).freed).toHaveLength(3);
    expect((await run(rig, CACHED)).steps[0]?.status).toBe('succeeded');
  });

  const bare = createHandPlan([createStep('make', { outputs: { made: { path: '/made', retain: false } } })]);

  /** The rig's disk, on which something else happens just before the first file is written whose path says so. */
  function interrupted({ options }: Rig, when: (path: string) => boolean, act: () => Promise<unknown>): Disk {
    const disk = options.disk!;
    let isDone = false;
    const interrupt = async (path: string) => {
      const isNow = !isDone && when(path);
      isDone ||= isNow;
      if (isNow) await act();
    };
    return {
      ...disk,
      async replace(path, bytes) {
        await interrupt(path);
        await disk.replace(path, bytes);
      },
      async create(path, bytes) {
        await interrupt(path);
        return disk.create(path, bytes);
      },
    };
  }

  test('keeps a run that another one reuses since the first read', async () => {
    const rig = createGcRig();
    const first = await run(rig, bare);
    const reuse = { runId: first.runId, from: [] };
    const start = () => startRun({ ...rig.options, plan: bare, baseDir: base, reuse });
    let second: RunReport | undefined;
    const disk = interrupted(
      rig,
      (path) => path.endsWith('/custody.json'),
      async () => {
        const started = await start();
        second = started.ok ? await started.value.finished : undefined;
      },
    );
    const report = await collect(rig, { disk });
    expect(second?.steps[0]?.cells[0]).toMatchObject({ reusedFrom: first.runId });
    expect(report.kept).toMatchObject([{ runId: first.runId, reason: expect.stringContaining('reuses its outputs') }]);
    expect(inVolume(rig).some((file) => file.includes(first.runId))).toBe(true);
    expect(await rig.go(start())).toMatchObject({ ok: true });
  });

  test('makes a run that starts while another is removed execute its steps again', async () => {
    const rig = createGcRig();
    const first = await run(rig, bare);
    const reuse = { runId: first.runId, from: [] };
    // The new run has looked for the old one already.
    const disk = interrupted(
      rig,
      (path) => path.endsWith('/plan.json'),
      () => collect(rig),
    );
    const started = await rig.go(startRun({ ...rig.options, disk, plan: bare, baseDir: base, reuse }));
    if (!started.ok) throw new Error(started.error.message);
    expect(await rig.go(started.value.finished)).toMatchObject({ steps: [{ status: 'succeeded' }] });
    expect(await listed(rig)).toEqual([started.value.runId]);
  });

  test('leaves the end of a scheduled run on record, so that its time is not decided again', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const records = openScheduleRecords(rig.disk, { home: '/home', name: 'nightly' });
    await records.create({ decision: 'start', planned: 0, cause: 'time', runId });
    expect((await collect(rig)).freed).toHaveLength(2);
    expect(await listed(rig)).toEqual([]);
    const left = [...rig.disk.files.keys()].filter((file) => file.includes(`runs/${runId}`));
    expect(left).toEqual([`/home/runs/${runId}/summary.json`]);
    expect(await collect(rig)).toEqual({ freed: [], kept: [], problems: [] });
  });

  test('says what could not be removed, and removes it the next time', async () => {
    const rig = createGcRig();
    const { runId } = await run(rig, PLAN);
    const volumes = new Map(rig.simulated.volumes);
    (rig.simulated.volumes as Map<string, unknown>).clear();
    const report = await collect(rig);
    expect(report.freed).toEqual([]);
    expect(report.problems[0]).toContain(`could not remove run ${runId}`);
    for (const [id, volume] of volumes) (rig.simulated.volumes as typeof volumes).set(id, volume);
    expect((await collect(rig)).freed).toHaveLength(2);
  });
});
