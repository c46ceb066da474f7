import { decodeLine, encodeLine, explainStep, followRun, listRuns, openJournal, readRun } from '@sluice/home';
import type { SchedulerEvent } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { adoptRun } from '../../src/run/adopt-run.ts';
import { approveRun } from '../../src/run/approve-run.ts';
import { cancelRun } from '../../src/run/cancel-run.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

describe('a journal', () => {
  const plan = createHandPlan([
    createStep('ask', { approval: { message: 'shall it go on?' } }),
    createStep('after', { needs: [{ step: 'ask', condition: 'succeeded' }] }),
  ]);
  const by = 'a test';
  const FALSE: Readonly<Record<string, readonly SchedulerEvent[]>> = {
    'a step that the plan does not have': [{ type: 'approved', at: 1, step: 9, approved: true, by }],
    'an answer to a step without an approval': [{ type: 'approved', at: 1, step: 1, approved: true, by }],
    'cells of a step that has no list': [{ type: 'decided', at: 1, step: 1, cells: 3 }],
    'a published output of a cell that never ran': [{ type: 'published', at: 1, step: 1, cell: 0, attempt: 1 }],
    'a container of an attempt that has not begun': [{ type: 'submitted', at: 1, step: 1, cell: 0, attempt: 2 }],
    'a success without a container': [
      { type: 'approved', at: 1, step: 0, approved: true, by },
      { type: 'ended', at: 1, step: 1, cell: 0, attempt: 1, outcome: { result: 'succeeded' } },
    ],
  };
  const VERBS = {
    approve: (rig: Rig, runId: string) => approveRun('/home', { runId, step: 'ask', approved: true, by }, rig),
    resume: (rig: Rig, runId: string) => resumeRun({ ...rig.options, runId }),
    cancel: (rig: Rig, runId: string) => cancelRun({ ...rig.options, runId, by }),
  };
  const cases = Object.keys(VERBS).flatMap((verb) => Object.keys(FALSE).map((what) => [what, verb] as const));

  async function leave(rig: Rig): Promise<string> {
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base', leavesForPeople: true }));
    if (!started.ok) throw new Error(started.error.message);
    return (await rig.go(started.value.finished)).runId;
  }

  test.each(cases)('that has %s is rejected by %s, and nothing changes', async (what, verb) => {
    const rig = createRig('contradicting');
    const runId = await leave(rig);
    const opened = await openJournal(`/home/runs/${runId}`, {
      disk: rig.disk,
      clock: rig.clock,
      reject: () => undefined,
    });
    if (!opened.ok) throw new Error(opened.error.message);
    for (const event of FALSE[what]!) opened.value.journal.append({ kind: 'event', event });
    await opened.value.release();
    const before = new Map(rig.disk.files);
    const rejected = await rig.go<unknown>(VERBS[verb as keyof typeof VERBS](rig, runId));
    expect(rejected).toMatchObject({ ok: false, error: { code: 'JOURNAL_DAMAGED' } });
    expect(rig.disk.files).toEqual(before);
  });

  test.each(Object.keys(VERBS))(
    'that is damaged in the middle is rejected by %s, and nothing changes',
    async (verb) => {
      const rig = createRig('damaged');
      const runId = await leave(rig);
      const file = `/home/runs/${runId}/journal.ndjson`;
      const bytes = Buffer.from((await rig.disk.read(file))!);
      bytes[bytes.indexOf('\n') - 4]! ^= 1;
      await rig.disk.replace(file, bytes);
      const before = new Map(rig.disk.files);
      const rejected = await rig.go<unknown>(VERBS[verb as keyof typeof VERBS](rig, runId));
      expect(rejected).toMatchObject({ ok: false, error: { code: 'JOURNAL_DAMAGED' } });
      expect(rig.disk.files).toEqual(before);
    },
  );

  const OTHER_FORMATS = [
    [
      1,
      'it was written by an earlier version of sluice (format 1, and this one reads only 2); use that version for the run, or remove its directory',
    ],
    [3, 'it was written by a newer version of sluice (format 3, and this one knows 2)'],
  ] as const;

  async function setFormat({ disk }: Rig, runId: string, format: number): Promise<void> {
    const file = `/home/runs/${runId}/journal.ndjson`;
    const lines = Buffer.from((await disk.read(file))!)
      .toString()
      .trimEnd()
      .split('\n');
    const changed = lines.map((text) => {
      const line = decodeLine(Buffer.from(text))!;
      return line.record.kind === 'run' ? { ...line, record: { ...line.record, format: format as 2 } } : line;
    });
    await disk.replace(file, Buffer.from(changed.map(encodeLine).join('')));
  }

  test.each(OTHER_FORMATS)('of format %d is rejected by all that read it, and listed', async (format, reason) => {
    const rig = createRig('other format');
    const runId = await leave(rig);
    await setFormat(rig, runId, format);
    const before = new Map(rig.disk.files);
    const { disk, clock } = rig;
    const readers: readonly (() => Promise<unknown>)[] = [
      () => readRun('/home', runId, disk),
      () => explainStep({ home: '/home', runId, step: 'ask', disk }),
      () => followRun({ home: '/home', runId, disk, clock }),
      ...Object.values(VERBS).map((act) => () => act(rig, runId)),
    ];
    const rejection = { code: 'JOURNAL_DAMAGED', message: expect.stringContaining(reason) };
    for (const read of readers) expect(await rig.go(read())).toMatchObject({ ok: false, error: rejection });
    expect(await listRuns('/home', rig.disk)).toMatchObject([{ runId, status: 'suspended' }]);
    expect(rig.disk.files).toEqual(before);
  });

  test.each(OTHER_FORMATS)('of format %d is not adopted, also if it is damaged, too', async (format, reason) => {
    const rig = createRig('other format');
    const single = createHandPlan([createStep('only')]);
    const started = await rig.go(startRun({ ...rig.options, plan: single, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const { runId } = await rig.go(started.value.finished);
    await setFormat(rig, runId, format);
    const rejection = { code: 'JOURNAL_DAMAGED', message: expect.stringContaining(reason) };
    for (const isDamaged of [false, true]) {
      if (isDamaged) rig.disk.files.get(`/home/runs/${runId}/journal.ndjson`)!.fill(0, 20, 60);
      const before = new Map(rig.disk.files);
      const adopted = await rig.go(adoptRun({ ...rig.options, runId, plan: single, baseDir: '/base' }));
      expect(adopted).toMatchObject({ ok: false, error: rejection });
      expect(rig.disk.files).toEqual(before);
    }
  });

  test('beside a plan of an older format is rejected with the reason', async () => {
    const rig = createRig('older plan');
    const runId = await leave(rig);
    const { pipeline, params, steps } = plan;
    await rig.disk.replace(`/home/runs/${runId}/plan.json`, Buffer.from(JSON.stringify({ pipeline, params, steps })));
    const before = new Map(rig.disk.files);
    const message = expect.stringMatching(/could not read the plan of run .*: it was written by an earlier version/);
    const readers: readonly (() => Promise<unknown>)[] = [
      () => readRun('/home', runId, rig.disk),
      ...Object.values(VERBS).map((act) => () => act(rig, runId)),
    ];
    for (const read of readers) {
      expect(await rig.go(read())).toMatchObject({ ok: false, error: { code: 'JOURNAL_DAMAGED', message } });
    }
    expect(await listRuns('/home', rig.disk)).toMatchObject([{ runId, status: 'suspended' }]);
    expect(rig.disk.files).toEqual(before);
  });

  test('that has begun is not started, adopted or resumed again, and nothing changes', async () => {
    const rig = createRig('begun');
    const single = createHandPlan([createStep('only')]);
    const started = await rig.go(startRun({ ...rig.options, plan: single, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const { runId } = await rig.go(started.value.finished);
    const options = { ...rig.options, runId, plan, baseDir: '/base' };
    const before = new Map(rig.disk.files);
    expect(await rig.go(startRun(options))).toMatchObject({ error: { code: 'RUN_IN_USE' } });
    expect(await rig.go(adoptRun(options))).toMatchObject({ error: { code: 'RUN_KNOWN' } });
    expect(await rig.go(resumeRun(options))).toMatchObject({ error: { code: 'RUN_FINISHED' } });
    const answer = { runId, step: 'only', approved: true, by };
    expect(await rig.go(approveRun('/home', answer, rig))).toMatchObject({ error: { code: 'NOT_ASKED' } });
    expect(rig.disk.files).toEqual(before);
  });

  test('that has lost its beginning is not resumed, and nothing changes', async () => {
    const rig = createRig('lost');
    const runId = await leave(rig);
    await rig.disk.replace(`/home/runs/${runId}/journal.ndjson`, new Uint8Array());
    const before = new Map(rig.disk.files);
    const rejected = await rig.go(resumeRun({ ...rig.options, runId }));
    expect(rejected).toMatchObject({ error: { code: 'JOURNAL_LOST' } });
    expect(rig.disk.files).toEqual(before);
  });
});
