import path from 'node:path';
import type { Disk } from '../journal/disk.ts';
import { isDiskError } from '../record/disk-error.ts';
import type { AttemptFacts, RunFacts } from '../record/run-facts.ts';

/** Milliseconds that steps take, by name, as a median of their last successes: what a later run of the pipeline orders by. */
export type KnownDurations = Readonly<Record<string, number>>;

/** Runs that are remembered: one that was slow by chance must not decide alone. */
const REMEMBERED = 7;

/** The last measurements of each step, oldest first. */
type Measurements = Readonly<Record<string, readonly number[]>>;

/** What the home knows of a pipeline's steps; undefined where nothing is, or nothing that can be read. */
export async function readDurations(disk: Disk, home: string, pipeline: string): Promise<KnownDurations | undefined> {
  const measurements = await readMeasurements(disk, home, pipeline);
  if (measurements === undefined) return undefined;
  return Object.fromEntries(Object.entries(measurements).map(([step, times]) => [step, median(times)]));
}

/** Files of earlier versions have one number for each step. */
async function readMeasurements(disk: Disk, home: string, pipeline: string): Promise<Measurements | undefined> {
  const bytes = await disk.read(durationsPath(home, pipeline));
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (!isStored(value)) return undefined;
    return Object.fromEntries(
      Object.entries(value).map(([step, times]) => [step, typeof times === 'number' ? [times] : times]),
    );
  } catch {
    return undefined;
  }
}

/** No schema, since ten thousand of them must not cost a fiftieth of a second. */
function isStored(value: unknown): value is Readonly<Record<string, number | readonly number[]>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const isTime = (ms: unknown) => typeof ms === 'number' && ms >= 0;
  return Object.values(value).every((times) =>
    Array.isArray(times) ? times.length > 0 && times.every(isTime) : isTime(times),
  );
}

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** Keeps what this run has measured; steps that it reused or skipped keep what was known before. */
export async function keepDurations(disk: Disk, home: string, facts: RunFacts): Promise<void> {
  const measured = measureSteps(facts);
  if (Object.keys(measured).length === 0) return;
  const { name } = facts.plan.pipeline;
  try {
    const before = new Map(Object.entries((await readMeasurements(disk, home, name)) ?? {}));
    for (const [step, ms] of Object.entries(measured)) {
      before.set(step, [...(before.get(step) ?? []), ms].slice(-REMEMBERED));
    }
    const merged = Object.fromEntries(before);
    await disk.replace(durationsPath(home, name), Buffer.from(`${JSON.stringify(merged)}\n`));
  } catch (error) {
    // They only make the next run quicker, and must not keep this one from its end.
    if (!isDiskError(error)) throw error;
  }
}

/** The mean of a step's cells, each by the attempt that succeeded. */
function measureSteps(facts: RunFacts): Record<string, number> {
  const measured: Record<string, number> = {};
  facts.plan.steps.forEach(({ step }, index) => {
    const times = (facts.known[index] ?? []).flatMap(({ attempts }) => attempts.flatMap(runTime));
    if (times.length === 0) return;
    measured[step.name] = Math.round(times.reduce((sum, ms) => sum + ms, 0) / times.length);
  });
  return measured;
}

function runTime({ outcome, runningAt, submittedAt, endedAt }: AttemptFacts): number[] {
  const from = runningAt ?? submittedAt;
  if (outcome?.result !== 'succeeded' || from === undefined || endedAt === undefined) return [];
  return [Math.max(0, endedAt - from)];
}

function durationsPath(home: string, pipeline: string): string {
  return path.join(home, 'durations', `${pipeline}.json`);
}
