import { expect, test } from 'vitest';
import { readSbatchVariables } from '../src/sbatch-variables.ts';

test('readSbatchVariables reads defaults of sbatch, and nothing that changes what a job is', () => {
  const env = { SBATCH_ACCOUNT: 'physics', SBATCH_PARTITION: 'main,gpu', SBATCH_QOS: '', SBATCH_ARRAY_INX: '1-3' };
  expect(readSbatchVariables(env)).toEqual({ account: 'physics', partition: 'main,gpu' });
});
