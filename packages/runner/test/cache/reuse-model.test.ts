import { expect, test } from 'vitest';
import { previewReuse } from '../../src/cache/preview-reuse.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { runReuseModel } from './run-reuse-model.ts';

/** `SLUICE_REUSE_SEEDS=5000 SLUICE_REUSE_FROM=1000` tries other seeds, and more of them. */
const SEEDS = Number(process.env.SLUICE_REUSE_SEEDS ?? (process.env.SLUICE_SOAK === 'true' ? 300 : 20));
const FROM = Number(process.env.SLUICE_REUSE_FROM ?? 0);

test(`a run reuses what the preview says, nothing behind an executed step, and nothing from other inputs, seeds from ${FROM}`, async () => {
  let [reused, executed] = [0, 0];
  for (let number = FROM; number < FROM + SEEDS; number++) {
    const seed = `reuse-${number}`;
    const result = await runReuseModel(seed, { startRun, resumeRun, previewReuse }).catch((error: Error) => {
      throw new Error(`${seed}: ${error.message}`, { cause: error });
    });
    expect(result.violations, seed).toEqual([]);
    reused += result.reused;
    executed += result.executed;
  }
  console.log(`${SEEDS} seeds: ${reused} steps were reused and ${executed} executed`);
  expect(Math.min(reused, executed)).toBeGreaterThan(SEEDS);
});
