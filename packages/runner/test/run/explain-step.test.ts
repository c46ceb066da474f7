import type { Plan } from '@sluice/core';
import { explainStep } from '@sluice/home';
import type { StepExplanation } from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const need = (step: string) => ({ step, condition: 'succeeded' as const });
const cached = (name: string, word: string) => createStep(name, { command: ['echo', word], cache: { ignore: [] } });

async function run(rig: Rig, plan: Plan): Promise<string> {
  const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
  if (!started.ok) throw new Error(started.error.message);
  await rig.go(started.value.finished);
  return started.value.runId;
}

async function explain(rig: Rig, runId: string, step: string): Promise<StepExplanation> {
  const { home } = rig.options;
  const disk = rig.options.disk!;
  const explained = await rig.go(explainStep({ home, disk, runId, step }));
  if (!explained.ok) throw new Error(explained.error.message);
  return explained.value;
}

describe('explainStep', () => {
  test('tells attempts, the decision after each, and every move of a step that failed', async () => {
    const plan = createHandPlan([
      createStep('a', { retry: { ...createStep('a').retry, limit: 1 } }),
      createStep('b', { needs: [need('a')] }),
    ]);
    const rig = createRig('why-failed', { behave: { a: { end: 'Failed', exitCode: 3 } } });
    const runId = await run(rig, plan);
    const a = await explain(rig, runId, 'a');
    expect(a).toMatchObject({ status: 'failed', reason: 'failed', message: 'exit code 3', runStatus: 'failed' });
    expect(a.attempts.map(({ retry }) => retry)).toEqual([
      'tried again: retry 1 of 1 for failed',
      'not tried again: all its retries (1) are used',
    ]);
    expect(a.attempts[1]?.failure?.logTail.at(-1)).toBe('its last line');
    const states = a.history.flatMap(({ status, attempt }) => (status === undefined ? [] : [`${attempt} ${status}`]));
    expect(states).toEqual([
      '1 ready',
      '1 submitting',
      '1 pending',
      '1 running',
      '1 ready',
      '2 ready',
      '2 submitting',
      '2 pending',
      '2 running',
      '2 failed',
    ]);
    const b = await explain(rig, runId, 'b');
    expect(b).toMatchObject({ status: 'skipped', message: 'a did not succeed' });
    expect(b.dependencies).toEqual([{ step: 'a', condition: 'succeeded', status: 'failed', reason: 'failed' }]);
  });

  test('explains during the run what a step waits for, since when, and what to do', async () => {
    const rig = createRig('why-live');
    const plan = createHandPlan([createStep('a'), createStep('b', { needs: [need('a')] })]);
    const started = await rig.go(startRun({ ...rig.options, plan, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    await rig.until(() => rig.created().length === 1);
    const { runId } = started.value;
    const b = await explain(rig, runId, 'b');
    expect(b).toMatchObject({ runStatus: 'running', status: 'waiting', message: 'waits for a' });
    expect(b.wait).toMatchObject({ kind: 'dependency', steps: ['a'], advice: `sluice why -r ${runId} a` });
    expect((await explain(rig, runId, 'a')).attempts).toMatchObject([{ attempt: 1, status: 'submitting' }]);
  });

  test('names the part of a fingerprint that has changed since the nearest run, or the run that was reused', async () => {
    const rig = createRig('why-cache');
    const first = await run(rig, createHandPlan([cached('a', 'one')]));
    expect((await explain(rig, first, 'a')).cache).toMatchObject({ kind: 'missed', cause: 'unknown' });
    const second = await run(rig, createHandPlan([cached('a', 'two')]));
    expect((await explain(rig, second, 'a')).cache).toMatchObject({
      kind: 'missed',
      nearest: {
        runId: first,
        differences: [{ name: 'command', before: '["echo","one"]', after: '["echo","two"]' }],
      },
    });
    const third = await run(rig, createHandPlan([cached('a', 'two')]));
    expect(await explain(rig, third, 'a')).toMatchObject({
      status: 'succeeded',
      reused: true,
      cache: { kind: 'hit', runId: second },
    });
  });

  test('rejects a step or a cell that the run does not have', async () => {
    const rig = createRig('why-nothing');
    const runId = await run(rig, createHandPlan([createStep('a')]));
    const { home } = rig.options;
    const disk = rig.options.disk!;
    for (const [step, code, message] of [
      ['x', 'STEP_NOT_FOUND', `run ${runId} has no step x; there is \`a\``],
      ['a/x', 'CELL_NOT_FOUND', `step a of run ${runId} has no cell x`],
    ] as const) {
      const rejected = await rig.go(explainStep({ home, disk, runId, step }));
      expect(rejected).toEqual({ ok: false, error: { code, message } });
    }
  });
});
