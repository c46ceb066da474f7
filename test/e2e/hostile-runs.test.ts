import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { OrderBody } from '@sluice/host';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  createCaller,
  createHostedPlace,
  neighborOf,
  type PreparedOrder,
  prepareOrder,
  useHostedServer,
} from './hosted-rig.ts';
import { type HostileTransport, watchNeighbor } from './hostile-account.ts';
import { hostileChanges, renderHostile } from './hostile-json.ts';
import { until } from './workplace-rig.ts';

/** Changed documents of each kind; `HOSTILE_RUNS` for a longer campaign. */
const RUNS = Number(process.env.HOSTILE_RUNS ?? (process.env.SLUICE_SOAK === 'true' ? 250 : 60));
const DOCUMENT = {
  version: 1,
  name: 'hostile',
  labels: { team: 'a' },
  params: { size: 3 },
  concurrency: { overlap: 'replace' },
  volumes: { data: {} },
  steps: {
    make: {
      command: 'true',
      matrix: { n: [1, 2] },
      env: { SIZE: '${{ params.size }}' },
      outputs: { text: '/out' },
      retry: { limit: 2, backoff: { initial: '1s' } },
      when: '${{ params.size > 3 }}',
    },
    use: {
      command: 'true',
      foreach: '${{ [1, 2] }}',
      inputs: { text: 'make.text', data: 'volumes.data' },
      results: { total: 'integer' },
      resources: { cpu: 1 },
    },
  },
  finally: { last: { command: 'true', needs: { use: 'completed' } } },
  outputs: { text: { from: 'make.text', publish: './results' } },
  notify: [{ on: ['failed'], webhook: 'https://example.org/' }],
};
/** A pipeline file may be JSON. */
const PIPELINE = JSON.stringify(DOCUMENT);

const server = useHostedServer('runs: { submissionsPerMinute: 1000000 }', { hasNeighbor: true });
let run: PreparedOrder;

beforeAll(async () => {
  run = await prepareOrder(server, PIPELINE);
});

/** The paths of a run that a client may read. */
const PATHS = [
  '',
  '/states',
  '/cells',
  '/cell?step=make',
  '/changes',
  '/pipeline',
  '/explanation?step=make',
  '/clusters',
];

let count = 0;

/** An ID that the server does not know: it remembers each run that it has accepted. */
function createId(): string {
  return (count++).toString(2).replaceAll('0', 'a').replaceAll('1', 'b').padStart(13, 'a');
}

/** Sends the text of an order, and reads all replies about its run. */
function sendOrders(): HostileTransport {
  const caller = createCaller(server);
  return {
    async send(text) {
      const runId = createId();
      const headers = { authorization: `Bearer ${server.tokens.member}`, 'content-type': 'application/json' };
      const ordered = await fetch(`${server.api}/runs/${runId}`, { method: 'PUT', headers, body: text });
      await ordered.text();
      const statuses = [ordered.status];
      for (const path of PATHS) statuses.push((await caller.json('GET', `/runs/${runId}${path}`)).status);
      const { body, status } = await caller.json('GET', '/runs');
      expect(body).toHaveProperty('runs');
      if (ordered.status === 200) statuses.push((await caller.json('POST', `/runs/${runId}:cancel`, {})).status);
      return [...statuses, status];
    },
  };
}

const ATTEMPT = { at: 1_800_000_000_000, step: 0, cell: 0, attempt: 1 };
const HOSTILE_INTENT = { kind: 'intent', ...ATTEMPT, step: '__proto__', id: 'x', clusterID: 'main' };
const WAITING = `version: 1
name: waiting
steps: { wait: { command: 'sleep 600' } }
`;

/** The lines of a journal whose records are given as JSON text. */
function encodeRaw(records: readonly string[], { from = 1, epoch = 1 } = {}): Buffer {
  const lines = records.map((record, at) => {
    const body = `"seq":${at + from},"first":1,"epoch":${epoch},"record":${record}}`;
    return `{"crc":"${crc32(body).toString(16).padStart(8, '0')}",${body}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** For any document, no reply is an internal error, and no object of the process is changed. */
async function attack(document: unknown, transport: HostileTransport): Promise<void> {
  const seed = Number(process.env.HOSTILE_SEED ?? Date.now() % 2 ** 31);
  await fc.assert(
    fc.asyncProperty(hostileChanges, async (changes) => {
      const statuses = await transport.send(renderHostile(document, changes));
      expect(statuses.filter((status) => status >= 500)).toEqual([]);
      expect([...Object.keys(Object.prototype), ...Object.keys(Array.prototype)]).toEqual([]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    }),
    { numRuns: RUNS, seed, endOnFailure: true },
  );
}

test('a server survives changed orders, and another account notices nothing', async () => {
  const neighbor = await watchNeighbor(server);
  await attack({ ...run.body, reuse: { runId: 'aaaaaaaaaaaaa', from: ['make'] } }, sendOrders());
  await attack(run.body, sendOrders());
  await neighbor.end();
});

test('an order whose workspace has a login with a long name is rejected, and the server goes on', async () => {
  const neighbor = await watchNeighbor(server);
  const login = { username: 'x'.repeat(5000), password: 'x', address: {} };
  const workspace = { volumeId: run.workspaceId, login };
  const order = { ...run, runId: createId(), body: { ...run.body, workspace } };
  expect(await createCaller(server).order(order)).toMatchObject({ status: 400 });
  await neighbor.end();
});

test('a server survives changed pipelines, and another account notices nothing', async () => {
  const neighbor = await watchNeighbor(server);
  const orders = sendOrders();
  const transport: HostileTransport = {
    send(text) {
      const pipeline = { file: 'pipeline.json', texts: { 'pipeline.json': text } };
      return orders.send(JSON.stringify({ ...run.body, pipeline }));
    },
  };
  await attack(DOCUMENT, transport);
  await neighbor.end();
});

test('a run that cannot be replayed is set aside and reported, and ends nothing else', async () => {
  const own = createHostedPlace('', { hasNeighbor: true });
  let first = await own.open();
  try {
    const damaged = await prepareOrder(first, WAITING);
    const caller = createCaller(first);
    expect((await caller.order(damaged)).status).toBe(200);
    await until(async () => (await caller.status(damaged.runId)) === 'running', 'the run to be executed');
    await first.close();
    const file = join(own.directory, 'data/hosted/main/physics/runs', damaged.runId, 'journal.ndjson');
    const seq = readFileSync(file, 'utf8').trimEnd().split('\n').length + 1;
    appendFileSync(file, encodeRaw([JSON.stringify({ ...HOSTILE_INTENT, at: 1 })], { from: seq, epoch: 9 }));
    first = await own.open();
    const neighbor = await watchNeighbor(first);
    const { body } = await createCaller(first).json('GET', '/runs');
    expect(body).toMatchObject({ runs: [{ runId: damaged.runId, problem: expect.stringContaining('"__proto__"') }] });
    for (const path of PATHS) {
      expect((await createCaller(first).json('GET', `/runs/${damaged.runId}${path}`)).status).toBeLessThan(500);
    }
    const metrics = async () => (await fetch(`${first.url}/metrics`)).text();
    await until(async () => (await metrics()).includes('sluice_runs_set_aside 1\n'), 'the run to be set aside');
    await neighbor.end();
  } finally {
    await first.close();
    own.remove();
  }
});

test('more streams than an account may follow are rejected, and another account can follow its own', async () => {
  const streams = Array.from({ length: 70 }, () => createCaller(server).call('GET', '/events?list=true'));
  const replies = await Promise.all(streams);
  const statuses = replies.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(64).fill(200), ...Array(6).fill(429)]);
  const other = await createCaller(neighborOf(server)).call('GET', '/events?list=true');
  expect(other.status).toBe(200);
  await Promise.all([...replies, other].map(({ body }) => body?.cancel()));
  await until(async () => {
    const again = await createCaller(server).call('GET', '/events?list=true');
    await again.body?.cancel();
    return again.status === 200;
  }, 'a stream to be free');
});

/** An order with as many cells as fit into the largest plan. */
function enlarge(): OrderBody {
  const cells = Array.from({ length: 70_000 }, (_, at) => at);
  const text = PIPELINE.replace('"n":[1,2]', `"n":${JSON.stringify(cells)}`);
  return { ...run.body, pipeline: { file: 'pipeline.yaml', texts: { 'pipeline.yaml': text } } };
}

test('the largest run that a server accepts is planned while another account is served', async () => {
  const largest = JSON.stringify(enlarge());
  const neighbor = await watchNeighbor(server);
  const before = neighbor.times.length;
  for (let round = 0; round < 3; round++) {
    const statuses = await sendOrders().send(largest);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses[0]).toBe(200);
  }
  const times = neighbor.times;
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed();
  console.info(
    `requests of the other account: ${times.length - before}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
  await neighbor.end();
});
