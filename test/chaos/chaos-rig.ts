import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { listRuns } from '@sluice/home';
import type { Random } from '../../packages/run/test/random.ts';
import { addUser, CREDENTIALS, configure, type Server, serve } from '../e2e/served-rig.ts';
import { createWorkplace, type Started, type Workplace } from '../e2e/workplace-rig.ts';
import { createHashGraph } from './hash-graph.ts';
import { checkLedger, type LedgerCheck, readLedger } from './ledger.ts';
import { createTcpProxy, type TcpProxy } from './tcp-proxy-rig.ts';

/** How much goes wrong, and over what graph. */
export interface ChaosOptions {
  readonly random: Random;
  readonly runnerKills: number;
  /** 0: the service is embedded in the runner and dies with it; else it is served behind the proxy. */
  readonly serviceKills: number;
  readonly layers: number;
  readonly width: number;
  /** Probability that something is done to a request. */
  readonly faultRate: number;
}

/** What came of it. */
export interface ChaosResult {
  readonly ledger: LedgerCheck;
  readonly finishedRuns: number;
  readonly runnerKills: number;
  readonly serviceKills: number;
  /** How often the clock of the runner's machine was set: the clock of its embedded service, too. */
  readonly clockJumps: number;
  /** Commands started, killed or not. */
  readonly lives: number;
  /** The outputs that were published, each once; one hash when all is well. */
  readonly published: readonly string[];
  readonly expected: string;
  /** Ends that are none of "done", "suspended" and "the service does not answer". */
  readonly strangeEnds: readonly string[];
  readonly fates: Readonly<Record<string, number>>;
}

/** Long enough for a command to start and do something, short enough to meet its first steps. */
const LONGEST_LIFE_MS = 2_500;
const LONGEST_OUTAGE_MS = 300;
const DAY_MS = 24 * 3_600_000;
const MOVABLE_CLOCK = new URL('movable-wall-clock.mjs', import.meta.url).href;
const LIVES_PER_KILL = 20;
/** Done, suspended, and what a service that does not answer leads to. */
export const ORDINARY_ENDS: readonly (number | undefined)[] = [0, 3, 75];

/** A served service that can be killed and comes back on another port behind the same proxy. */
export interface Served {
  readonly proxy: TcpProxy;
  start(): Promise<void>;
  kill(): Promise<void>;
}

/** Runs pipelines one after the other, killing as it goes, until the kills are used up and the last run is done. */
export async function causeChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { random } = options;
  const place = createWorkplace();
  const graph = createHashGraph(options);
  writeFileSync(join(place.directory, 'pipeline.json'), graph.text);
  const served = options.serviceKills > 0 ? await serveBehindProxy(place, options) : undefined;
  const count = { runnerKills: 0, serviceKills: 0, clockJumps: 0, lives: 0 };
  writeFileSync(join(place.directory, 'clock'), '0');
  const finished = new Set<string>();
  const published = new Set<string>();
  const strangeEnds: string[] = [];

  /** One life of the runner; it is killed while there are kills left. */
  async function live(args: readonly string[]): Promise<void> {
    count.lives++;
    const isLast = count.runnerKills >= options.runnerKills;
    const runner = startRunner(place, args, served);
    const jump = Promise.race([delay(random.below(LONGEST_LIFE_MS)), runner.ended]).then(() => {
      count.clockJumps++;
      setClock(place, random);
    });
    const outage = served && isDue() ? interrupt(served) : undefined;
    if (!isLast) {
      const moment = delay(random.below(LONGEST_LIFE_MS));
      const isOver = await Promise.race([runner.ended.then(() => true), moment.then(() => false)]);
      if (!isOver && runner.process.kill('SIGKILL')) count.runnerKills++;
    }
    const { exitCode, stdout, stderr } = await runner.ended;
    const wasKilled = runner.process.signalCode === 'SIGKILL';
    if (!wasKilled && !ORDINARY_ENDS.includes(exitCode))
      strangeEnds.push(`${args.join(' ')}: ${exitCode} ${stdout}${stderr}`);
    await Promise.all([outage, jump]);
  }

  /** Spread over the kills of the runner. */
  function isDue(): boolean {
    return count.serviceKills * options.runnerKills < options.serviceKills * (count.runnerKills + 1);
  }

  async function interrupt(service: Served): Promise<void> {
    await interruptService(service, { random, afterMs: random.below(LONGEST_LIFE_MS) });
    count.serviceKills++;
  }

  try {
    // On a slow machine every life that is killed may end before its run begins.
    const isDone = () =>
      finished.size > 0 && count.runnerKills >= options.runnerKills && count.serviceKills >= options.serviceKills;
    for (let open: string | undefined; open !== undefined || !isDone(); ) {
      if (count.lives > 100 + options.runnerKills * LIVES_PER_KILL) throw new Error('the kills do not come to an end');
      await live(open === undefined ? ['run', '--here', 'pipeline.json'] : ['resume', open]);
      const runs = (await listRuns(place.home)).filter(({ problem }) => problem === undefined);
      open = runs.find(({ status }) => status === 'suspended' || status === 'running')?.runId;
      for (const { runId, status } of runs) {
        if (status === 'failed' || status === 'canceled') strangeEnds.push(`run ${runId} is ${status}`);
        if (status !== 'succeeded' || finished.has(runId)) continue;
        finished.add(runId);
        published.add(readPublished(place));
      }
      if (strangeEnds.length > 3) break;
    }
    return {
      ...count,
      ledger: checkLedger(readLedger(place.directory), { runs: [...finished], names: graph.names }),
      finishedRuns: finished.size,
      published: [...published],
      expected: graph.final,
      strangeEnds,
      fates: Object.fromEntries(served?.proxy.fates ?? []),
    };
  } finally {
    await served?.kill();
    await served?.proxy.close();
    place.remove();
  }
}

/** Of the runner's machine: forwards or back by more than the timeout of a step. */
export function setClock(place: Workplace, random: Random): void {
  writeFileSync(join(place.directory, 'clock'), String(random.pick([-DAY_MS, 0, DAY_MS])));
}

/** Kills the service and has it come back. */
export async function interruptService(
  service: Served,
  { random, afterMs }: { readonly random: Random; readonly afterMs: number },
): Promise<void> {
  await delay(afterMs);
  await service.kill();
  await delay(random.below(LONGEST_OUTAGE_MS));
  await service.start();
}

/** Starts a command whose clock can be set; with its embedded service, if none is served. */
export function startRunner(place: Workplace, args: readonly string[], served: Served | undefined): Started {
  const clock = { SLUICE_CHAOS_CLOCK: join(place.directory, 'clock'), NODE_OPTIONS: `--import ${MOVABLE_CLOCK}` };
  if (!served) return place.start(args, { env: clock });
  return place.start([...args, '--service', `http://127.0.0.1:${served.proxy.port}`], {
    env: { ...CREDENTIALS, ...clock },
  });
}

function readPublished(place: Workplace): string {
  const file = join(place.directory, 'results/hash');
  return existsSync(file) ? readFileSync(file, 'utf8') : 'nothing';
}

export async function serveBehindProxy(
  place: Workplace,
  options: Pick<ChaosOptions, 'random' | 'faultRate'>,
): Promise<Served> {
  const proxy = await createTcpProxy(options.random);
  let server: Server | undefined;
  const served: Served = {
    proxy,
    async start() {
      server = await serve(place);
      proxy.target = Number(new URL(server.url).port);
    },
    kill: async () => server?.kill(),
  };
  configure(place, { extra: `publicUrl: http://127.0.0.1:${proxy.port}` });
  await addUser(place, 'main/physics');
  await served.start();
  proxy.faultRate = options.faultRate;
  return served;
}
