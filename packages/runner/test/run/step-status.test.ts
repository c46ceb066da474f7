import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createPlan, type NeedCondition, parsePipeline } from '@sluice/core';
import {
  CELL_STATES,
  type CellState,
  describeStatus,
  isSatisfied,
  type SourceEnd,
  stepReason,
  stepStatus,
  TERMINAL_CELL_STATES,
} from '@sluice/run';
import { describe, expect, test } from 'vitest';
import { startRun } from '../../src/run/start-run.ts';
import { createRig } from '../simulation/rig.ts';

const PAGE = fileURLToPath(new URL('../../../../docs/pipeline.md', import.meta.url));
const FROM = '<!-- status: written by packages/runner/test/run/step-status.test.ts -->\n';
const TO = '<!-- end of status -->';
/** Indexes into `CELL_STATES` are the bits of `seen`. */
const endOf = (state: CellState): SourceEnd => ({
  seen: 1 << CELL_STATES.indexOf(state),
  isSingle: true,
  isTolerant: false,
  hasRun: true,
});
const CONDITIONS: readonly NeedCondition[] = ['succeeded', 'failed', 'completed', 'skipped'];

/** Every way in which a step can end, in the words of the page. */
const ENDS: readonly (readonly [string, { state: CellState; isOutOfMemory?: boolean }])[] = [
  ['succeeded', { state: 'succeeded' }],
  ['was reused (`cache` or `--reuse`)', { state: 'cached' }],
  ['failed', { state: 'failed' }],
  ['ran out of memory', { state: 'failed', isOutOfMemory: true }],
  ['timed out', { state: 'timedOut' }],
  ['was lost with its machine', { state: 'errored' }],
  ['was canceled', { state: 'canceled' }],
  ['was skipped', { state: 'skipped' }],
];

function renderTable(): string {
  const head = ['the step', '`status`', '`reason`', ...CONDITIONS.map((condition) => `\`needs\`: ${condition}`)];
  const rows = ENDS.map(([words, end]) => {
    const reason = stepReason(end.state, () => end.isOutOfMemory === true);
    const needs = CONDITIONS.map((condition) => (isSatisfied(condition, endOf(end.state)) ? 'yes' : '–'));
    const cells = [words, `\`${stepStatus(end.state)}\``, reason ? `\`${reason}\`` : '', ...needs];
    return `| ${cells.join(' | ')} |`;
  });
  return `${[`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows].join('\n')}\n`;
}

describe('stepStatus', () => {
  test('agrees with `needs` for every end of a step', () => {
    for (const state of TERMINAL_CELL_STATES) {
      const end = endOf(state);
      expect(stepStatus(state) === 'failed', state).toBe(isSatisfied('failed', end));
      expect(stepStatus(state) === 'skipped', state).toBe(isSatisfied('skipped', end));
      expect(stepStatus(state) === 'succeeded', state).toBe(isSatisfied('succeeded', end));
    }
  });

  test('is `running` of a step that is not over, and only a failure has a reason', () => {
    for (const state of CELL_STATES) {
      expect(stepStatus(state) === 'running', state).toBe(!TERMINAL_CELL_STATES.has(state));
      expect(stepReason(state, () => true) !== '', state).toBe(stepStatus(state) === 'failed');
    }
  });

  test('docs/pipeline.md shows this very table (SLUICE_UPDATE_DOCS=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const start = page.indexOf(FROM) + FROM.length;
    const updated = page.slice(0, start) + renderTable() + page.slice(page.indexOf(TO));
    if (process.env.SLUICE_UPDATE_DOCS === '1') writeFileSync(PAGE, updated);
    else expect(page).toBe(updated);
  });
});

const FILE = `
version: 1
name: words
failFast: false
steps:
  ok: { command: [x], instanceType: sim-1, cache: true }
  slow: { command: [x], instanceType: sim-1, timeout: 5s }
  after-ok:
    when: \${{ steps.ok.status == 'succeeded' }}
    command: [x]
    instanceType: sim-1
  after-reused:
    when: \${{ steps.ok.reused }}
    command: [x]
    instanceType: sim-1
  big: { command: [x], instanceType: sim-1 }
  on-oom:
    when: \${{ steps.big.reason == 'oom' && !steps.big.reused }}
    command: [x]
    instanceType: sim-1
  on-need: { needs: { slow: failed }, command: [x], instanceType: sim-1 }
  on-status:
    when: \${{ steps.slow.status == 'failed' && steps.slow.reason == 'timeout' }}
    command: [x]
    instanceType: sim-1
`;

test('conditions on a reused and on a timed-out step hold as `needs` of the same words do', async () => {
  const parsed = parsePipeline({ file: 'p.yaml', text: FILE });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const plan = createPlan(parsed.value.pipeline, {});
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  const rig = createRig('words', {
    behave: { slow: { runMs: 60_000 }, big: { end: 'Failed', outOfMemory: true } },
  });
  for (const ok of ['succeeded', 'reused']) {
    const started = await rig.go(startRun({ ...rig.options, plan: plan.value, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const { steps } = await rig.go(started.value.finished);
    expect(steps.map((step) => `${step.step} ${describeStatus(step)}`)).toEqual([
      `ok ${ok}`,
      'slow failed (timeout)',
      'after-ok succeeded',
      `after-reused ${ok === 'reused' ? 'succeeded' : 'skipped'}`,
      'big failed (oom)',
      'on-oom succeeded',
      'on-need succeeded',
      'on-status succeeded',
    ]);
  }
});
