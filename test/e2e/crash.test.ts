import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Container } from '@sluice/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkplace, pause, type Workplace } from './workplace-rig.ts';

/** Printed with a failure; set it to see the same moments again. */
const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 1_000_000);
/** Moments at which a runner is killed; `pnpm soak` tries more. */
const KILLS = Number(process.env.SLUICE_CRASH_KILLS ?? (process.env.SLUICE_SOAK === 'true' ? 10 : 4));

let reference: { hash: string; tookMs: number };

beforeAll(async () => {
  const place = createWorkplace('digits');
  try {
    const startedAt = Date.now();
    const { exitCode, stdout } = await place.sluice('run', 'pipeline.yaml');
    expect(exitCode, stdout).toBe(0);
    reference = { hash: hashResults(place), tookMs: Date.now() - startedAt };
  } finally {
    place.remove();
  }
});

afterAll(() => {
  console.log(`crash.test.ts: seed ${SEED}`);
});

test.each(Array.from({ length: KILLS }, (_, i) => i))(
  'sluice resume ends like an undisturbed run when the runner was killed, moment %d of the seed',
  async (i) => {
    const place = createWorkplace('digits');
    const moment = Math.round(reference.tookMs * fraction(i));
    const story = `seed ${SEED}, kill ${i} after ${moment} ms`;
    try {
      const run = place.start(['run', 'pipeline.yaml']);
      await pause(moment);
      run.process.kill('SIGKILL');
      await run.ended;
      const [begun] = await place.runs();
      // Killed before the run was durable: nothing has been started, and the user runs it again.
      const args = begun === undefined ? ['run', 'pipeline.yaml'] : ['resume', begun.runId];
      if (begun?.status !== 'succeeded') {
        const resumed = await place.sluice(...args);
        expect(resumed.exitCode, `${story}\n${resumed.stdout}${resumed.stderr}`).toBe(0);
      }
      expect(hashResults(place), story).toBe(reference.hash);
      expect(namesOf(await place.containers()), story).toEqual(EXPECTED);
    } finally {
      place.remove();
    }
  },
);

const MODELS = ['knn-1', 'knn-3', 'knn-5', 'softmax-0.0001', 'softmax-0.001', 'softmax-0.01'];

/** One container for each cell, and of each only the first attempt: nothing was started twice. */
const EXPECTED = [
  ...['evaluate', 'prepare', 'report', 'select', 'summary'].map((step) => `${step} 1`),
  ...MODELS.flatMap(() => ['fit 1', 'fit 1']),
].sort();

function namesOf(containers: readonly Container[]): string[] {
  return containers.map(({ labels }) => `${labels?.['sluice-step']} ${labels?.['sluice-attempt']}`).sort();
}

/** One hash of everything that is published, beside the summary, which names the run. */
/** Files that differ from run to run, since they name it. */
const NAMES_RUN = new Set(['summary.txt', '.sluice-result.json']);

function hashResults(place: Workplace): string {
  const root = join(place.directory, 'results');
  const hash = createHash('sha256');
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    if (entry.isFile() && !NAMES_RUN.has(entry.name))
      hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex');
}

/** Evenly over the run in a random order of digits: the i-th of the seed, from 0 to below 1. */
function fraction(i: number): number {
  const hash = createHash('sha256').update(`${SEED} ${i}`).digest();
  return (i + hash.readUInt32BE(0) / 2 ** 32) / KILLS;
}
