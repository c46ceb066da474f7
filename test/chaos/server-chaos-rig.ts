import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { obtainToken } from '@sluice/client';
import { createCaller, type HostedServer, type PreparedOrder, prepareOrder } from '../e2e/hosted-rig.ts';
import { CREDENTIALS, configure, type Server, serve, serveNew } from '../e2e/served-rig.ts';
import { createWorkplace, until, type Workplace } from '../e2e/workplace-rig.ts';
import { createHashGraph } from './hash-graph.ts';
import type { HostChaosOptions, HostChaosResult } from './host-chaos-rig.ts';
import { checkLedger, readLedger } from './ledger.ts';

const LIMITS = 'runs: { concurrent: 100, submissionsPerMinute: 10000 }';
const LONGEST_LIFE_MS = 2_500;

/** A server that is killed and started again. */
interface Chaos {
  readonly place: Workplace;
  readonly options: HostChaosOptions;
  readonly text: string;
  server: Server;
  kills: number;
}

/** As `causeHostChaos` with the runs of a server: each kill ends the host, the service and the engine at once. */
export async function causeServerChaos(options: HostChaosOptions): Promise<HostChaosResult> {
  const place = createWorkplace();
  const graph = createHashGraph(options);
  const first = await serveNew(place, { extra: LIMITS });
  configure(place, { extra: LIMITS, port: Number(new URL(first.url).port) });
  const chaos: Chaos = { place, options, text: graph.text, server: first, kills: 0 };
  const runIds: string[] = [];
  try {
    do {
      const round: string[] = [];
      for (let index = 0; index < options.runs; index++) round.push(await order(chaos));
      await killUntilEnded(chaos, round);
      runIds.push(...round);
    } while (chaos.kills < options.kills);
    const hosted = await openHosted(chaos);
    const published = await Promise.all(runIds.map((runId) => readHash(hosted, runId)));
    const directory = join(place.directory, 'data/hosted/main/physics/runs');
    return {
      kills: chaos.kills,
      ledger: checkLedger(readLedger(place.directory), { runs: runIds, names: graph.names }),
      statuses: await listStatuses(hosted, runIds),
      marked: runIds.filter((runId) => existsSync(join(directory, runId, 'custody.json'))).length,
      published: published.find((hash) => hash !== graph.final) ?? graph.final,
      expected: graph.final,
    };
  } finally {
    await chaos.server.kill();
    place.remove();
  }
}

/** Orders a run; the server may be killed before each request and while it replies. */
async function order(chaos: Chaos): Promise<string> {
  const { random } = chaos.options;
  const run = await prepareOrder(await openHosted(chaos), chaos.text);
  if (random.below(4) === 0) await killAndServe(chaos);
  const isLost = random.below(2) === 0;
  const requested = request(createCaller(await openHosted(chaos)), run).catch((error: Error) => error);
  if (isLost) {
    await delay(random.below(50));
    await killAndServe(chaos);
    await requested;
    await request(createCaller(await openHosted(chaos)), run);
    return run.runId;
  }
  const result = await requested;
  if (result instanceof Error) throw result;
  return run.runId;
}

async function request(caller: ReturnType<typeof createCaller>, run: PreparedOrder): Promise<void> {
  const { status, body } = await caller.order(run);
  if (status !== 200) throw new Error(`could not start run ${run.runId}: ${JSON.stringify(body)}`);
}

/** Kills one server after the other, until all runs have ended or all kills are used up. */
async function killUntilEnded(chaos: Chaos, runIds: readonly string[]): Promise<void> {
  const { random, kills } = chaos.options;
  while (chaos.kills < kills) {
    await delay(random.below(LONGEST_LIFE_MS));
    if ((await listStatuses(await openHosted(chaos), runIds)).every(hasEnded)) return;
    await killAndServe(chaos);
  }
  const hosted = await openHosted(chaos);
  await until(async () => (await listStatuses(hosted, runIds)).every(hasEnded), 'the end of all runs');
}

async function killAndServe(chaos: Chaos): Promise<void> {
  await chaos.server.kill();
  chaos.kills++;
  chaos.server = await serve(chaos.place);
}

async function openHosted({ place, server: { url } }: Chaos): Promise<HostedServer> {
  const { SLUICE_EMAIL: email, SLUICE_PASSWORD: password } = CREDENTIALS;
  const member = await obtainToken({ baseUrl: url, login: { email, password } });
  return {
    ...{ directory: place.directory, url, api: `${url}/api/sluice/v1/clusters/main/accounts/physics` },
    tokens: { member, nonMember: member },
    close: async () => {},
  };
}

function listStatuses(hosted: HostedServer, runIds: readonly string[]): Promise<string[]> {
  const caller = createCaller(hosted);
  return Promise.all(runIds.map(async (runId) => (await caller.status(runId)) ?? 'absent'));
}

function hasEnded(status: string): boolean {
  return ['succeeded', 'failed', 'canceled'].includes(status);
}

async function readHash(hosted: HostedServer, runId: string): Promise<string> {
  const reply = await createCaller(hosted).call('GET', `/runs/${runId}/files?step=final&output=out&path=hash`);
  return reply.text();
}
