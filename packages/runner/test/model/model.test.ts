import { expect, test } from 'vitest';
import { pullOutput } from '../../src/data/pull-output.ts';
import { collectGarbage } from '../../src/gc/collect-garbage.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { runModel } from './run-model.ts';

/** `SLUICE_MODEL_SEEDS=5000 SLUICE_MODEL_FROM=1000` tries other seeds, and more of them. */
const SEEDS = Number(process.env.SLUICE_MODEL_SEEDS ?? (process.env.SLUICE_SOAK === 'true' ? 100 : 25));
const FROM = Number(process.env.SLUICE_MODEL_FROM ?? 0);
const GROUP = 25;

const SUBJECT = { startRun, resumeRun, pullOutput, collectGarbage };
const groups = Array.from({ length: Math.ceil(SEEDS / GROUP) }, (_, group) => FROM + group * GROUP);

test.each(groups)(
  'every byte that is delivered is what a plain reading of the file gives, seeds from model-%d',
  async (from) => {
    let [runs, reused, delivered] = [0, 0, 0];
    for (let number = from; number < Math.min(from + GROUP, FROM + SEEDS); number++) {
      const seed = `model-${number}`;
      const result = await runModel(seed, SUBJECT).catch((error: Error) => {
        throw new Error(`${seed}: ${error.message}`, { cause: error });
      });
      expect(result.differences, seed).toEqual([]);
      runs += result.runs;
      reused += result.reused;
      delivered += result.delivered;
    }
    console.log(`seeds model-${from} and on: ${runs} runs, ${reused} cells reused, ${delivered} files delivered`);
    expect(reused).toBeGreaterThan(0);
    expect(delivered).toBeGreaterThan(0);
  },
);
