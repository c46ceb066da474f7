// The run API beside a real run: how long after the end of a container its event reaches the clients of the event stream,
// and what a run in the list costs while nothing happens.
//
//   node bench/run-api.mjs [--clients 100] [--steps 40] [--runs 1000]
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listRuns, readRun } from '@sluice/home';
import { addRunApi, openRunApi } from '@sluice/host';
import Fastify from 'fastify';

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '100' },
    steps: { type: 'string', default: '40' },
    runs: { type: 'string', default: '1000' },
  },
});
const [clients, steps, runs] = [Number(values.clients), Number(values.steps), Number(values.runs)];
const sluice = fileURLToPath(new URL('../packages/cli/bin/sluice.js', import.meta.url));
const cwd = mkdtempSync(join(tmpdir(), 'sluice-bench-run-api-'));
const home = join(cwd, 'home');

const server = Fastify({ forceCloseConnections: true });
const api = openRunApi({ home, userName: 'bench' });
await addRunApi(server, api);
await server.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${server.server.address().port}/api/sluice/v1`;

try {
  for (const count of [1, clients]) await measureEvents(count);
  await measureIdle();
} finally {
  await api.close();
  await server.close();
  rmSync(cwd, { recursive: true, force: true });
}

/** One step after the other: each notes the time as its last act. */
async function measureEvents(count) {
  const names = Array.from({ length: steps }, (_, i) => `s${i}`);
  const command = 'sleep 0.1; date +%s%3N > /sluice/results/at';
  const all = names.map((name, i) => [
    name,
    { command, results: { at: 'integer' }, ...(i > 0 && { needs: [names[i - 1]] }) },
  ]);
  const pipeline = { version: 1, name: 'events', steps: Object.fromEntries(all) };
  writeFileSync(join(cwd, 'pipeline.json'), JSON.stringify(pipeline));
  const known = new Set((await listRuns(home)).map(({ runId }) => runId));
  const run = spawn(process.execPath, [sluice, 'run', 'pipeline.json', '--home', home], { cwd, stdio: 'ignore' });
  const ended = new Promise((resolve) => run.on('close', resolve));
  let runId;
  while (runId === undefined) {
    await delay(20);
    runId = (await listRuns(home)).find((one) => !known.has(one.runId))?.runId;
  }
  const received = await Promise.all(Array.from({ length: count }, () => receive(runId)));
  await ended;
  const report = await readRun(home, runId);
  const at = report.value.steps.map(({ cells }) => cells[0].results.at);
  const delays = received.flatMap((times) => [...times].map(([step, time]) => time - at[step])).sort((a, b) => a - b);
  const share = (part) => `${delays[Math.floor(part * (delays.length - 1))]} ms`;
  console.log(
    `${count} clients, ${delays.length} events: median ${share(0.5)}, 99 % within ${share(0.99)}, slowest ${share(1)}`,
  );
}

/** When the client has received the success of each step. */
async function receive(runId) {
  const times = new Map();
  const reply = await fetch(`${url}/events?run=${runId}`);
  let text = '';
  for await (const block of reply.body) {
    text += Buffer.from(block).toString();
    const now = Date.now();
    const events = text.split('\n\n');
    text = events.pop();
    for (const event of events) {
      const [, name, data] = /event: (\w+)\ndata: (.*)/.exec(event) ?? [];
      if (name === undefined) continue;
      const { moves = [], run } = JSON.parse(data);
      for (const [, , step, , status] of moves) if (status === 'succeeded') times.set(step, now);
      if (run?.status === 'succeeded') return times;
    }
  }
  return times;
}

/** Many suspended runs in the list of a client that follows it. */
async function measureIdle() {
  const [name] = readdirSync(join(home, 'runs'));
  const alphabet = 'abcdefghijklmnopqrstuvwxyz';
  for (let i = 0; i < runs; i++) {
    const id = [...String(i).padStart(13, '0')].map((digit) => alphabet[digit]).join('');
    cpSync(join(home, 'runs', name), join(home, 'runs', id), { recursive: true });
    const summary = { pipeline: 'idle', createdAt: 1_700_000_000_000 + i };
    writeFileSync(join(home, 'runs', id, 'summary.json'), `${JSON.stringify(summary)}\n`);
  }
  globalThis.gc?.();
  const before = process.memoryUsage();
  const stop = new AbortController();
  const reply = await fetch(`${url}/events?list=true`, { signal: stop.signal });
  const start = performance.now();
  // Leaving the loop would close the stream.
  const reader = reply.body.getReader();
  for (let text = ''; !text.includes('event: runs'); ) text += Buffer.from((await reader.read()).value).toString();
  const first = Math.round(performance.now() - start);
  await delay(10_000);
  const cpu = process.cpuUsage();
  await delay(10_000);
  const { user, system } = process.cpuUsage(cpu);
  globalThis.gc?.();
  const after = process.memoryUsage();
  stop.abort();
  const bytes = Math.round((after.rss - before.rss) / runs);
  console.log(
    `${runs} suspended runs: list after ${first} ms, then ${((user + system) / 100_000).toFixed(1)} % of a core, ${bytes} bytes each`,
  );
}
