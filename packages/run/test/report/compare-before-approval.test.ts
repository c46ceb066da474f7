import type { Json, Plan } from '@sluice/core';
import { expect, test } from 'vitest';
import { cellFacts, createRunFacts, type RunFacts } from '../../src/facts/run-facts.ts';
import { compareBeforeApproval } from '../../src/report/compare-before-approval.ts';
import { createHandPlan, createStep } from '../plans.ts';

const succeeded = (step: string) => ({ needs: [{ step, condition: 'succeeded' as const }] });

function createFacts(
  given: {
    readonly params?: Readonly<Record<string, Json>>;
    readonly command?: string;
    readonly accuracy?: number;
    readonly digest?: string;
    readonly added?: string;
  } = {},
): RunFacts {
  const { params = { size: 'small' }, command = 'fit', accuracy, digest, added = 'test' } = given;
  const plan: Plan = {
    ...createHandPlan([
      createStep('fit', { command: [command] }),
      createStep(added),
      createStep('other', { command: [command, 'unrelated'] }),
      createStep('ok', { approval: {}, needs: [...succeeded('fit').needs, ...succeeded(added).needs] }),
      createStep('deploy', { command: [command], ...succeeded('ok') }),
    ]),
    params,
  };
  const facts = createRunFacts(plan);
  if (accuracy !== undefined) cellFacts(facts, 0, 0).results = { accuracy };
  if (digest !== undefined) facts.volumes = { raw: { volumeID: 'v', path: '', digest } };
  return facts;
}

test('compareBeforeApproval finds nothing in equal runs', () => {
  const before = createFacts({ accuracy: 0.9, digest: 'a' });
  // Only a run that was approved has this.
  cellFacts(before, 4, 0).results = { url: 'x' };
  expect(compareBeforeApproval(before, createFacts({ accuracy: 0.9, digest: 'a' }), 'ok')).toEqual([]);
});

test('compareBeforeApproval finds parameters, contents, steps around the approval, and results before it', () => {
  const before = createFacts({ accuracy: 0.9, digest: 'a' });
  const after = createFacts({
    params: { size: 'large', seed: 1 },
    command: 'x'.repeat(300),
    accuracy: 0.8,
    digest: 'b',
    added: 'check',
  });
  const command = { before: '["fit"]', after: expect.stringMatching(/^\["x{197}…$/) };
  expect(compareBeforeApproval(before, after, 'ok')).toEqual([
    { kind: 'param', name: 'size', before: '"small"', after: '"large"' },
    { kind: 'param', name: 'seed', after: '1' },
    { kind: 'volume', name: 'raw' },
    { kind: 'step', name: 'fit.command', ...command },
    { kind: 'step', name: 'check', after: 'added' },
    expect.objectContaining({ kind: 'step', name: 'ok.needs' }),
    { kind: 'step', name: 'deploy.command', ...command },
    { kind: 'step', name: 'test', before: 'removed' },
    { kind: 'result', name: 'fit.accuracy', before: '0.9', after: '0.8' },
  ]);
});
