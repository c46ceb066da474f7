import path from 'node:path';
import type { AttemptFacts, RunFacts } from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { isDiskError } from './disk-error.ts';

/** The median duration of each step's last successes in milliseconds, by step name. Later runs order steps by it. */
export type KnownDurations = Readonly<Record<string, number>>;

/** Measurements kept for each step: a single slow run must not determine the order. */
const REMEMBERED = 7;

/** The last measurements of each step, oldest first. */
type Measurements = Readonly<Record<string, readonly number[]>>;

/** The durations of a pipeline's steps; undefined if the file is absent or damaged. */
export async function readDurations(disk: Disk, home: string, pipeline: string): Promise<KnownDurations | undefined> {
  const measurements = await readMeasurements(disk, home, pipeline);
  if (measurements === undefined) return undefined;
  return Object.fromEntries(Object.entries(measurements).map(([step, times]) => [step, median(times)]));
}

async function readMeasurements(disk: Disk, home: string, pipeline: string): Promise<Measurements | undefined> {
  const bytes = await disk.read(durationsPath(home, pipeline));
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isStored(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Without a schema: validating ten thousand entries with one takes 20 ms. */
function isStored(value: unknown): value is Measurements {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const isTime = (ms: unknown) => typeof ms === 'number' && ms >= 0;
  return Object.values(value).every((times) => Array.isArray(times) && times.length > 0 && times.every(isTime));
}

function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.round((sorted[middle - 1]! + sorted[middle]!) / 2);
}

/** Stores the durations of this run; those of reused or skipped steps stay as they are. */
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
    // They only make the next run faster, and must not prevent the end of this one.
    if (!isDiskError(error)) throw error;
  }
}

/** The mean over a step's cells, each measured by the attempt that succeeded. */
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
