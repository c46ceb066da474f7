import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPlan, parsePipeline } from '@sluice/core';
import { journalPath, parseJournal, parsePlan, runDirectory, writePlan } from '@sluice/home';
import { encodePlan } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createMemoryDisk } from '../../../home/test/memory-disk.ts';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { checkRunFiles } from '../../src/handover/check-run-files.ts';
import { findPlanFault } from '../../src/handover/find-plan-fault.ts';
import { handedPlanSchema } from '../../src/handover/handed-plan.ts';
import { handedRecordSchema } from '../../src/handover/handed-record.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const FILES = ['examples', 'packages/core/test/checks/testdata/correct'].flatMap((folder) =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => `${folder}/${file}`),
);

test('handedPlanSchema accepts every plan that this version can write', async () => {
  const disk = createMemoryDisk();
  let accepted = 0;
  for (const file of FILES.sort()) {
    const parsed = parsePipeline({ text: readFileSync(`${ROOT}/${file}`, 'utf8'), file });
    const plan = parsed.ok ? createPlan(parsed.value.pipeline) : parsed;
    if (!plan.ok) continue;
    await writePlan(disk, '/run', plan.value);
    const stored = JSON.parse(Buffer.from(disk.files.get('/run/plan.json')!).toString());
    expect([file, handedPlanSchema.safeParse(stored).error?.issues]).toEqual([file, undefined]);
    const read = parsePlan(disk.files.get('/run/plan.json')!);
    expect(read).toEqual({ ok: true, value: JSON.parse(JSON.stringify(plan.value)) });
    expect([file, read.ok && findPlanFault(read.value)]).toEqual([
      file,
      plan.value.pipeline.notify.some(({ command }) => command) ? expect.stringContaining('notify') : undefined,
    ]);
    accepted++;
  }
  expect(accepted).toBeGreaterThan(20);
});

test('handedPlanSchema accepts the doubles and the bound values of a plan, and no other form of them', () => {
  const text = 'version: 1\nname: p\nparams: { l: [1.0], m: [{ k: 1 }] }\nsteps: { s: { uses: u.yaml } }\n';
  const used = 'params: { r: [1.0, 2.0] }\nforeach: ${{ params.r }}\ncommand: [x, "${{ item }}"]\n';
  const parsed = parsePipeline({ text, file: 'p.yaml', read: () => ({ ok: true, value: used }) });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: { m: '[{ "k": 2.0 }]' } }) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const stored = JSON.parse(JSON.stringify(encodePlan(plan.value)));
  expect(stored).toMatchObject({
    pipeline: {
      params: { l: { doubles: { items: { number: true } } } },
      bound: { r_0: { value: [1, 2], doubles: { items: { number: true } } } },
    },
    paramDoubles: { m: { items: { keys: { k: { number: true } } } } },
  });
  expect(handedPlanSchema.safeParse(stored).error?.issues).toBeUndefined();
  const other = { ...stored, paramDoubles: { m: { items: null } } };
  expect(handedPlanSchema.safeParse(other).error?.issues).toMatchObject([{ path: ['paramDoubles', 'm', 'items'] }]);
});

describe('checkRunFiles', () => {
  const STEPS = 1000;
  const plan = createHandPlan(Array.from({ length: STEPS }, (_, at) => createStep(`s${at}`)));

  /** Why the plan is refused, whose last steps have these dependencies instead of none. */
  async function refuse(...dependencies: unknown[]): Promise<string> {
    const kept = encodePlan(plan);
    const steps = kept.steps.map((step, at) => {
      const changed = dependencies[at - STEPS + dependencies.length];
      return changed === undefined ? step : { ...step, dependencies: changed };
    });
    return refuseFile({ ...kept, steps });
  }

  async function refuseFile(kept: object): Promise<string> {
    const directory = mkdtempSync(join(tmpdir(), 'handed-plan-'));
    try {
      writeFileSync(join(directory, 'plan.json'), JSON.stringify(kept));
      writeFileSync(join(directory, 'journal.ndjson'), '');
      const checked = await checkRunFiles(directory, {
        runId: 'aaaaaaaaaaaaa',
        scope: { clusterID: 'c', accountID: 'a' },
      });
      return checked.ok ? '' : checked.error;
    } finally {
      rmSync(directory, { recursive: true });
    }
  }

  const PASSED = 'the journal has not exactly one first record';

  test.each([
    [[], PASSED],
    [[{ on: [0, [3, 8]] }, { on: [1], condition: 'failed' }, { on: [9], data: true }], PASSED],
    [[{ on: [[0, 998]] }], PASSED],
    [[{ on: [[0, 999]] }], 'the plan has steps that depend on each other'],
    [[{ on: [[0, 1000]] }], 'the plan is no plan: it has no step 1000'],
    [[{ on: [[0, 999_999]] }], 'must have at most 200000 dependencies'],
    [[{ on: [[0, 1e300]] }], 'must be a list of indexes and ranges'],
    [[{ on: [[8, 3]] }], 'must be a list of indexes and ranges'],
    [[{ on: [[0, 1, 2]] }], 'must be a list of indexes and ranges'],
    [[{ on: [-1] }], 'must be a list of indexes and ranges'],
    [[{ on: [0.5] }], 'must be a list of indexes and ranges'],
    [[{ on: ['0'] }], 'must be a list of indexes and ranges'],
    [[{ on: [3, 1] }], 'the plan has a dependency twice, or out of order'],
    [[{ on: [[0, 3], 2] }], 'the plan has a dependency twice, or out of order'],
    [[{ on: [1] }, { on: [1], data: true }], 'the plan has a dependency twice, or out of order'],
    [[{ on: [1], data: false }], 'steps.999.dependencies.0.data'],
    [[{ on: [1], more: 1 }], 'Unrecognized key'],
    [Array.from({ length: 11 }, () => ({ on: [1] })), 'steps.999.dependencies'],
    [[{ on: 1, condition: 'succeeded', data: false }], 'must be a list of indexes and ranges'],
  ])('of a plan with the dependencies %j of its last step says: %s', async (dependencies, expected) => {
    expect(await refuse(dependencies)).toContain(expected);
  });

  test('refuses more dependencies than the largest file could list, however short they are', async () => {
    const many = Array.from({ length: 201 }, () => [
      {
        on: [
          [0, 700],
          [702, 1000],
        ],
      },
    ]);
    expect(await refuse(...many)).toContain('must have at most 200000 dependencies');
  });

  test('refuses a plan of another format', async () => {
    const { format: _, ...earlier } = encodePlan(plan);
    expect(await refuseFile({ ...earlier, format: 3 })).toBe(
      'the plan cannot be read: it was written by a newer version of sluice (format 3, and this one knows 2)',
    );
    expect(await refuseFile(earlier)).toContain(
      'the plan cannot be read: it was written by an earlier version of sluice (format 1, and this one reads only 2)',
    );
  });
});

test('handedRecordSchema accepts every record of runs that succeed, fail, retry and are canceled', async () => {
  const rig = createRig('handed', {
    quota: 2,
    behave: { flaky: { end: 'Failed', exitCode: 3 }, slow: { runMs: 60_000 } },
  });
  const plan = createHandPlan([
    createStep('cells', { matrix: { axes: { n: [1, 2, 3] }, include: [], exclude: [] } }),
    createStep('flaky', { retry: { ...createStep('a').retry, limit: 2 }, continueOnError: true }),
    createStep('slow', { timeoutMs: 5000, cache: { ignore: [] } }),
    createStep('asked', { approval: {} }),
  ]);
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.until(() => rig.created().length >= 6);
  started.value.cancel('x');
  await rig.go(started.value.finished);
  const journal = parseJournal(rig.disk.files.get(journalPath(runDirectory('/home', started.value.runId)))!);
  if (!journal.ok) throw new Error(journal.error);
  const kinds = new Set<string>();
  for (const record of journal.value.records) {
    expect([record, handedRecordSchema.safeParse(record).error?.issues]).toEqual([record, undefined]);
    kinds.add(record.kind === 'event' ? record.event.type : record.kind);
  }
  expect([...kinds].sort()).toMatchInlineSnapshot(`
    [
      "cacheMissed",
      "cancelIntent",
      "cancelRequested",
      "delivered",
      "ended",
      "finished",
      "intent",
      "log",
      "opened",
      "postponed",
      "run",
      "running",
      "started",
      "submitted",
      "tick",
      "volumes",
    ]
  `);
});
