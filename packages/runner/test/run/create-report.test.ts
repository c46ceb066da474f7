import { createPlan, parsePipeline } from '@sluice/core';
import { readRun } from '@sluice/home';
import { renderJunit } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const PIPELINE = `
version: 1
name: unclear
failFast: false
params: { list: { type: array, default: [a, b] } }
steps:
  each: { foreach: ["\${{ params.list[7] }}"], command: [x] }
  maybe: { when: "\${{ params.list[8] == 'a' }}", command: [x] }
  after: { command: [x], needs: each }
`;

describe('createReport', () => {
  test('gives the reason of a when and a foreach that could not be evaluated, like that of a failed attempt', async () => {
    const parsed = parsePipeline({ file: 'p.yaml', text: PIPELINE });
    const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: {} }) : undefined;
    if (!plan?.ok) throw new Error(JSON.stringify(parsed));
    const rig = createRig('unclear');
    const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const report = await rig.go(started.value.finished);
    expect(await readRun('/home', report.runId, rig.disk)).toEqual({ ok: true, value: report });
    expect(report.failures).toMatchObject([
      { step: 'each', cell: '', attempt: 1, status: 'failed', reason: 'failed', logTail: [] },
      { step: 'maybe', cell: '', attempt: 1, status: 'failed', reason: 'failed', logTail: [] },
    ]);
    const [each, maybe] = report.failures.map(({ message }) => message);
    expect(each).toContain('`foreach` of step `each`');
    expect(maybe).toContain('`when` of step `maybe`');
    expect(report.steps).toMatchObject([
      { step: 'each', status: 'failed', cells: [{ cell: '', status: 'failed', attempt: 0, message: each }] },
      { step: 'maybe', status: 'failed', cells: [{ cell: '', status: 'failed', attempt: 0, message: maybe }] },
      { step: 'after', status: 'skipped' },
    ]);
    const junit = renderJunit(report);
    expect(junit.match(/<failure type="failed" message="`foreach` of step `each`/g)).toHaveLength(1);
    expect(junit.match(/<failure type="failed" message="`when` of step `maybe`/g)).toHaveLength(1);
  });
});
