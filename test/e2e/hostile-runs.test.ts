import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { MAX_FILE_BYTES } from '@sluice/host';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  createCaller,
  createHostedPlace,
  digestOf,
  neighborOf,
  type RecordedRun,
  recordRun,
  useHostedServer,
} from './hosted-rig.ts';
import { type HostileTransport, watchNeighbor } from './hostile-account.ts';
import { hostileChanges, renderHostile } from './hostile-json.ts';
import { until } from './workplace-rig.ts';

/** Changed documents of each kind; `HOSTILE_RUNS` for a longer campaign. */
const RUNS = Number(process.env.HOSTILE_RUNS ?? (process.env.CI === 'true' ? 250 : 60));
const PIPELINE = `version: 1
name: hostile
labels: { team: a }
params: { size: 3 }
concurrency: { overlap: replace }
volumes: { data: {} }
steps:
  make:
    command: 'true'
    matrix: { n: [1, 2] }
    env: { SIZE: '\${{ params.size }}' }
    outputs: { text: /out }
    retry: { limit: 2, backoff: { initial: 1s } }
    when: '\${{ params.size > 3 }}'
  use:
    command: 'true'
    foreach: '\${{ [1, 2] }}'
    inputs: { text: make.text, data: volumes.data }
    results: { total: integer }
    resources: { cpu: 1 }
finally:
  last: { command: 'true', needs: { use: completed } }
outputs: { text: { from: make.text, publish: ./results } }
notify: [{ on: [failed], webhook: 'https://example.org/' }]
`;

const server = useHostedServer('runs: { submissionsPerMinute: 1000000 }', { hasNeighbor: true });
let run: RecordedRun;

beforeAll(async () => {
  run = await recordRun(server, PIPELINE);
});

/** The paths of a run that a client may read. */
const PATHS = [
  '',
  '/states',
  '/cells',
  '/cell?step=make',
  '/moves',
  '/pipeline',
  '/explanation?step=make',
  '/clusters',
];

/** The content of the two files of a run as JSON text. */
interface Handed {
  readonly plan: string;
  readonly records: readonly string[];
}

let count = 0;

/** An ID that the server does not know: it remembers each run that it has accepted. */
function createId(): string {
  return (count++).toString(2).replaceAll('0', 'a').replaceAll('1', 'b').padStart(13, 'a');
}

/** Hands a run over with one changed file, reads all replies about it, and takes it back. */
function handOver(change: (text: string) => Partial<Handed>): HostileTransport {
  const caller = createCaller(server);
  return {
    async send(text) {
      const { plan = run.files['plan.json'].toString(), records = recordsOf(run).map((one) => JSON.stringify(one)) } =
        change(text);
      const runId = createId();
      const lines = records.map((record) => record.replaceAll(run.runId, runId));
      const files = { 'plan.json': Buffer.from(plan), 'journal.ndjson': encodeRaw(lines) };
      const digests = {
        'plan.json': digestOf(files['plan.json']),
        'journal.ndjson': digestOf(files['journal.ndjson']),
      };
      const sent = await caller.send({ runId, files });
      const started = await caller.start({ runId, start: { ...run.start, files: digests } });
      const statuses = [sent.status, started.status];
      for (const path of PATHS) statuses.push((await caller.json('GET', `/runs/${runId}${path}`)).status);
      const { body, status } = await caller.json('GET', '/runs');
      expect(body).toHaveProperty('runs');
      if (started.status === 200) statuses.push((await caller.json('POST', `/runs/${runId}:cancel`, {})).status);
      return [...statuses, status, (await caller.release(runId)).status];
    },
  };
}

function recordsOf({ files }: RecordedRun): unknown[] {
  const lines = files['journal.ndjson'].toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).record);
}

const CELL = { at: 1_800_000_000_000, step: 0, cell: 0 };
const ATTEMPT = { ...CELL, attempt: 1 };
/** Records of a run that has begun, of which each kind is changed. */
const MORE = [
  { kind: 'event', event: { type: 'started', at: CELL.at } },
  { kind: 'event', event: { type: 'decided', at: CELL.at, step: 0, cells: 2 } },
  { kind: 'intent', ...ATTEMPT, id: 'x-1', clusterID: 'main', instanceType: 'small', spec: 'abc' },
  { kind: 'event', event: { type: 'submitted', ...ATTEMPT }, facts: { container: { createTime: 'now' } } },
  { kind: 'event', event: { type: 'running', ...ATTEMPT } },
  {
    kind: 'event',
    event: { type: 'ended', ...ATTEMPT, outcome: { result: 'failed', class: 'failed', exitCode: 1, message: 'x' } },
    facts: { times: { runningAt: CELL.at, endedAt: CELL.at } },
  },
  { kind: 'log', step: 0, cell: 0, attempt: 1, tail: ['x'], file: 'logs/x.log' },
  { kind: 'warning', at: CELL.at, message: 'x' },
];

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

test('a server survives changed plans, and another account notices nothing', async () => {
  const neighbor = await watchNeighbor(server);
  const plan = JSON.parse(run.files['plan.json'].toString());
  await attack(
    plan,
    handOver((text) => ({ plan: text })),
  );
  await neighbor.end();
});

test('a server survives changed journals, and another account notices nothing', async () => {
  const neighbor = await watchNeighbor(server);
  const transport = handOver((text) => ({ records: splitList(text) }));
  await attack([...recordsOf(run), ...MORE], transport);
  await neighbor.end();
});

/** The parts of the outermost list, as they are written; all of the text if it is no list. */
function splitList(text: string): string[] {
  if (!text.startsWith('[') || text === '[]') return [text];
  const parts: string[] = [];
  let [depth, start, isText] = [0, 1, false];
  for (let at = 1; at < text.length; at++) {
    const char = text[at]!;
    if (isText) {
      if (char === '\\') at++;
      else if (char === '"') isText = false;
    } else if (char === '"') isText = true;
    else if ('[{'.includes(char)) depth++;
    else if ((char === ',' && depth === 0) || (char === ']' && depth === 0)) {
      parts.push(text.slice(start, at));
      start = at + 1;
    } else if (']}'.includes(char)) depth--;
  }
  return parts;
}

test.each([
  ['a step of a prototype', HOSTILE_INTENT],
  ['a time that is none', { kind: 'warning', at: 1e300, message: 'x' }],
  ['no record', null],
  ['a step that the plan does not have', { kind: 'event', event: { type: 'skipped', at: 1, step: 99 } }],
  ['a cell of a prototype', { kind: 'cancelIntent', ...ATTEMPT, cell: 'constructor', reason: 'x' }],
  ['an attempt that is none', { kind: 'cancelIntent', ...ATTEMPT, attempt: 0.5, reason: 'x' }],
  ['too many cells', { kind: 'event', event: { type: 'decided', at: 1, step: 1, cells: 1e9 } }],
])('a journal with %s is rejected', async (_, record) => {
  const records = [...recordsOf(run), record].map((one) => JSON.stringify(one));
  const neighbor = await watchNeighbor(server);
  expect((await handOver(() => ({ records })).send(''))[1]).toBe(400);
  await neighbor.end();
});

test('a journal with a deep list as its format is rejected', async () => {
  const record = `{"kind":"run","format":${'['.repeat(5000)}${']'.repeat(5000)}}`;
  expect((await handOver(() => ({ records: [record] })).send(''))[1]).toBe(400);
});

test('a run that cannot be replayed is set aside and reported, and ends nothing else', async () => {
  const own = createHostedPlace('', { hasNeighbor: true });
  let first = await own.open();
  try {
    const damaged = await recordRun(first, WAITING);
    const caller = createCaller(first);
    await caller.send(damaged);
    expect((await caller.start(damaged)).status).toBe(200);
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

test('of more runs than may be received at once, sent in parallel, the others are rejected', async () => {
  const caller = createCaller(server);
  const ids = Array.from({ length: 230 }, createId);
  const sent = await Promise.all(ids.map((id) => caller.put(id, 'plan.json', Buffer.from('x'))));
  const accepted = sent.filter(({ status }) => status === 200);
  expect([accepted.length, new Set(sent.map(({ status }) => status))]).toEqual([200, new Set([200, 429])]);
  for (const id of ids) await caller.release(id);
});

test('a file that is too large is rejected with its limit before it is stored', async () => {
  const caller = createCaller(server);
  const runId = createId();
  const limit = MAX_FILE_BYTES['plan.json'];
  expect(await caller.put(runId, 'plan.json', Buffer.alloc(9), limit - 8)).toMatchObject({
    ...{ status: 413, body: { message: expect.stringContaining(`at most ${limit}`) } },
  });
  expect((await caller.json('GET', `/runs/${runId}/staged`)).body.files).toEqual({
    'plan.json': 0,
    'journal.ndjson': 0,
  });
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

/** The handed-over run with a plan and a journal that are as large as a server accepts. */
function enlarge(): Handed {
  const plan = JSON.parse(run.files['plan.json'].toString());
  const cells: unknown[] = [];
  const size = () => JSON.stringify(plan).length;
  const room = MAX_FILE_BYTES['plan.json'] - size() - 1000;
  const key = (at: number) => `n-${at.toString(36).padStart(4, '0')}`;
  const cellSize = JSON.stringify({ key: key(0), matrix: { n: 1 } }).length + 4;
  for (let at = 0; at < Math.floor(room / cellSize); at++) cells.push({ key: key(at), matrix: { n: 1 } });
  plan.steps[0].cells = cells;
  const warning = JSON.stringify({ kind: 'warning', at: CELL.at, message: 'x'.repeat(100) });
  const records = recordsOf(run).map((one) => JSON.stringify(one));
  const count = Math.floor((MAX_FILE_BYTES['journal.ndjson'] - 10_000) / (warning.length + 80));
  return { plan: JSON.stringify(plan), records: [...records, ...Array<string>(count).fill(warning)] };
}

test('the largest run that a server accepts is checked while another account is served', async () => {
  const largest = enlarge();
  const neighbor = await watchNeighbor(server);
  const before = neighbor.times.length;
  const transport = handOver(() => largest);
  for (let round = 0; round < 3; round++) {
    const statuses = await transport.send('');
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect(statuses[1]).toBe(200);
  }
  const times = neighbor.times;
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed();
  console.info(
    `requests of the other account: ${times.length - before}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
  await neighbor.end();
});
