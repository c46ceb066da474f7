import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../packages/run/test/random.ts';
import { createWorkplace, isAlive, parseLines, until, type Workplace } from '../e2e/workplace-rig.ts';
import { createHashGraph } from './hash-graph.ts';
import { checkLedger, type LedgerCheck, readLedger } from './ledger.ts';

/** How many runs a host executes at once, and how often it is killed. */
export interface HostChaosOptions {
  readonly random: Random;
  readonly runs: number;
  readonly kills: number;
  readonly layers: number;
  readonly width: number;
}

/** What came of it. */
export interface HostChaosResult {
  readonly ledger: LedgerCheck;
  /** The status of each run. */
  readonly statuses: readonly string[];
  readonly marked: number;
  readonly kills: number;
  readonly published: string;
  readonly expected: string;
}

const LONGEST_LIFE_MS = 2_500;

/** Detaches runs and kills the process that executes them again and again, until the kills are used up. */
export async function causeHostChaos(options: HostChaosOptions): Promise<HostChaosResult> {
  const { random, runs } = options;
  const place = createWorkplace();
  const graph = createHashGraph(options);
  writeFileSync(join(place.directory, 'pipeline.json'), graph.text);
  let kills = 0;
  let host: number | undefined;
  const submitted: string[] = [];
  try {
    do {
      for (let index = 0; index < runs; index++) {
        const detached = await runDetached(place);
        submitted.push(detached.runId);
        host = detached.hostPid;
        // The next command starts another process, which finds all marked runs.
        if (random.below(4) === 0 && killHost(host)) kills++;
      }
      await endHost(host);
      kills += await killUntilDone(place, { random, kills: Math.max(0, options.kills - kills) });
    } while (kills < options.kills);
    await place.sluice('host');
    const published = join(place.directory, 'results/hash');
    return {
      kills,
      ledger: checkLedger(readLedger(place.directory), { runs: submitted, names: graph.names }),
      statuses: await listStatuses(place),
      marked: submitted.filter((runId) => existsSync(join(place.home, 'runs', runId, 'custody.json'))).length,
      published: existsSync(published) ? readFileSync(published, 'utf8') : 'nothing',
      expected: graph.final,
    };
  } finally {
    if (host !== undefined) killHost(host);
    place.remove();
  }
}

async function runDetached(place: Workplace): Promise<{ readonly runId: string; readonly hostPid: number }> {
  const { exitCode, stdout, stderr } = await place.sluice('run', 'pipeline.json', '--detach', '--json');
  if (exitCode !== 0) throw new Error(`could not detach a run: ${exitCode} ${stderr}`);
  return parseLines<{ type: string; runId: string; hostPid: number }>(stdout).findLast(
    ({ type }) => type === 'detached',
  )!;
}

/** Starts one host after the other and kills it, until all runs have ended. Returns the number of kills, at most `kills`. */
async function killUntilDone(place: Workplace, given: Pick<HostChaosOptions, 'random' | 'kills'>): Promise<number> {
  for (let kills = 0; kills < given.kills; ) {
    const { process: child, ended } = place.start(['host']);
    const hasEnded = await Promise.race([ended.then(() => true), delay(given.random.below(LONGEST_LIFE_MS), false)]);
    if (!hasEnded && child.kill('SIGKILL')) kills++;
    await ended;
    // A host ends by itself when no run is left.
    if (hasEnded) return kills;
  }
  return given.kills;
}

/** Ends the background process, so that those that follow are children of the test. */
async function endHost(pid: number | undefined): Promise<void> {
  if (pid === undefined || !killHost(pid)) return;
  await until(() => !isAlive(pid), 'the end of the host');
}

async function listStatuses(place: Workplace): Promise<string[]> {
  return (await place.runs()).map(({ status }) => status);
}

function killHost(pid: number): boolean {
  return signal(pid, 'SIGKILL');
}

/** False: the process has ended. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}
