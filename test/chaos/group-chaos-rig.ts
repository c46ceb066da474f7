import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listRuns } from '@sluice/home';
import type { RunSummary } from '@sluice/run';
import { createWorkplace } from '../e2e/workplace-rig.ts';
import {
  type ChaosOptions,
  interruptService,
  ORDINARY_ENDS,
  serveBehindProxy,
  setClock,
  startRunner,
} from './chaos-rig.ts';
import { checkGroupLedger, GROUP_PIPELINE, type GroupLedgerCheck } from './group-ledger.ts';
import { readLedger } from './ledger.ts';

/** What came of it. */
export interface GroupChaosResult {
  readonly ledger: GroupLedgerCheck;
  readonly succeededRuns: number;
  /** The runs that have ended otherwise, or not at all. */
  readonly otherRuns: readonly string[];
  readonly runnerKills: number;
  readonly serviceKills: number;
  readonly clockJumps: number;
  readonly lives: number;
  readonly strangeEnds: readonly string[];
}

/** So many runners live at once. */
const LANES = 3;
/** Long enough for a runner to start, to wait for another one, and to run a step. */
const LONGEST_LIFE_MS = 8_000;
/** Begun when the kills are used up, so that runs also meet each other undisturbed. */
const CALM_RUNS = 6;
const LONGEST_CALM_MS = 4_000;
const LIVES_PER_KILL = 20;

/** Has several runs of one group under way at all times, kills until the kills are used up, and lets every run end. */
export async function causeGroupChaos(options: Omit<ChaosOptions, 'layers' | 'width'>): Promise<GroupChaosResult> {
  const { random } = options;
  const place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.json'), GROUP_PIPELINE);
  writeFileSync(join(place.directory, 'clock'), '0');
  const served = options.serviceKills > 0 ? await serveBehindProxy(place, options) : undefined;
  const count = { runnerKills: 0, serviceKills: 0, clockJumps: 0, lives: 0 };
  let calmRuns = 0;
  const strangeEnds: string[] = [];
  const resuming = new Set<string>();
  const isOver = () => strangeEnds.length > 3 || count.lives > 100 + options.runnerKills * LIVES_PER_KILL;
  const hasKills = () => count.runnerKills < options.runnerKills && !isOver();

  /** One life of a runner; it is killed while there are kills left. */
  async function live(args: readonly string[]): Promise<void> {
    count.lives++;
    const runner = startRunner(place, args, served);
    const isDoomed = hasKills();
    const moment = Promise.race([delay(random.below(LONGEST_LIFE_MS)), runner.ended]).then(() => {
      setClock(place, random);
      count.clockJumps++;
      if (isDoomed && hasKills() && runner.process.kill('SIGKILL')) count.runnerKills++;
    });
    const { exitCode, stdout, stderr } = await runner.ended;
    if (runner.process.signalCode !== 'SIGKILL' && !ORDINARY_ENDS.includes(exitCode))
      strangeEnds.push(`${args.join(' ')}: ${exitCode} ${stdout}${stderr}`);
    await moment;
  }

  /** Resumes what was left; only if there is nothing, begins another run. */
  async function keepRunning(): Promise<void> {
    while (!isOver()) {
      const runs = await listRuns(place.home);
      const left = runs.find(({ runId, status }) => status === 'suspended' && !resuming.has(runId))?.runId;
      if (left === undefined && !hasKills() && calmRuns++ >= CALM_RUNS) return;
      if (left === undefined) await live(['run', '--here', 'pipeline.json']);
      else {
        resuming.add(left);
        await live(['resume', left]);
        resuming.delete(left);
      }
    }
  }

  async function keepInterrupting(): Promise<void> {
    while (served && count.serviceKills < options.serviceKills && !isOver()) {
      await interruptService(served, { random, afterMs: random.below(LONGEST_CALM_MS) });
      count.serviceKills++;
    }
  }

  try {
    await Promise.all([keepInterrupting(), ...Array.from({ length: LANES }, keepRunning)]);
    // What the last kills left, when nobody kills any more.
    await keepRunning();
    const runs = await listRuns(place.home);
    const hasSucceeded = ({ status }: RunSummary) => status === 'succeeded';
    return {
      ...count,
      ledger: checkGroupLedger(readLedger(place.directory)),
      succeededRuns: runs.filter(hasSucceeded).length,
      otherRuns: runs.filter((run) => !hasSucceeded(run)).map(({ runId, status }) => `${runId} ${status}`),
      strangeEnds,
    };
  } finally {
    await served?.kill();
    await served?.proxy.close();
    place.remove();
  }
}
