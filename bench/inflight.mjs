// Many containers in flight that end between two polls: how long until all are decided and their dependents submitted,
// how long the event loop was kept, how much memory it took, and what the service was asked. Then the time from a
// step's end to its dependent's submission, and what the journal costs. Each case runs in a process of its own.
//   simulated  a service in memory without hints: the runner alone
//   http       our service in another process, across HTTP, without hints
//   embedded   our service in the same process, with hints; its time and memory count, too
// Usage, after a build: node bench/inflight.mjs [containers]
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createHttpService } from '@sluice/client';
import { createPlan, parsePipeline } from '@sluice/core';
import { startRun } from '@sluice/runner';
import { createSystemClock } from '../packages/runner/dist/clock.js';
import { openJournal } from '../packages/runner/dist/journal/open-journal.js';
import { createSystemDisk } from '../packages/runner/dist/journal/system-disk.js';
import { addUser, INSTANCE_TYPE, openFakeCluster, PRINCIPAL, SCOPE, USER } from './fake-cluster.mjs';
import { openSimulated } from './simulated-service.mjs';

const LOOP_RESOLUTION_MS = 10;
const SERVICES = { simulated: openSimulated, http: openHttp, embedded: openEmbedded };

/** A service whose containers run until they are let go, or for a given time. */
async function openHeld(root) {
  const held = {
    /** Milliseconds that a container runs; undefined: until `release`. */
    runMs: undefined,
    /** When each container ended, by its ID. */
    ended: new Map(),
    release() {
      const ends = open;
      open = [];
      for (const end of ends) end();
    },
  };
  let open = [];
  const service = await openFakeCluster(root, ({ containerID }, end) => {
    const endNow = () => {
      held.ended.set(containerID, Date.now());
      end();
    };
    if (held.runMs === undefined) open.push(endNow);
    else setTimeout(endNow, held.runMs);
  });
  return { service, held };
}

async function openEmbedded(root) {
  const { service, held } = await openHeld(root);
  return {
    service: service.inProcess(PRINCIPAL),
    control: async (name, value) => control(held, name, value),
    close: () => service.close(),
  };
}

/** What a bench asks of what is held, in this process or across another's channel. */
function control(held, name, value) {
  if (name === 'release') held.release();
  if (name === 'runMs') held.runMs = value;
  return name === 'ended' ? [...held.ended] : undefined;
}

/** The other end of `openHttp`. */
async function serve(root) {
  const { service, held } = await openHeld(root);
  await addUser(root);
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  process.send({ url });
  process.on('disconnect', () => process.exit(0));
  process.on('message', ({ name, value }) => process.send({ answer: control(held, name, value) ?? null }));
}

async function openHttp(root) {
  const child = fork(fileURLToPath(import.meta.url), ['--serve', root]);
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const { url } = await answer();
  const service = createHttpService({ baseUrl: url, login: USER });
  return {
    service,
    async requests() {
      const text = await (await fetch(`${url}/metrics`)).text();
      const counts = {};
      for (const [, operation, count] of text.matchAll(/^sluice_requests_total\{operation="(\w+)".*\} (\d+)$/gm)) {
        counts[operation] = (counts[operation] ?? 0) + Number(count);
      }
      return counts;
    },
    async control(name, value) {
      const done = answer();
      child.send({ name, value });
      return (await done).answer;
    },
    async close() {
      await service.close();
      child.kill();
    },
  };
}

function planOf(steps, more = {}) {
  const text = JSON.stringify({ version: 1, name: 'bench', ...more, steps });
  const parsed = parsePipeline({ text, file: 'bench.json' });
  if (!parsed.ok) throw new Error(parsed.error[0].message);
  const plan = createPlan(parsed.value.pipeline, {});
  if (!plan.ok) throw new Error(plan.error[0].message);
  return plan.value;
}

const step = (...needs) => ({ command: ['true'], instanceType: INSTANCE_TYPE, ...(needs.length > 0 && { needs }) });

/** Starts the run; `count(state)` says how many cells have come to that state. */
async function begin(opened, { plan, home, parallelism }) {
  const statuses = new Map();
  let waiting = [];
  const createdAt = new Map();
  const { containers } = opened.service;
  const service = {
    ...opened.service,
    containers: {
      ...containers,
      create(scope, spec, more) {
        createdAt.set(spec.labels['sluice-step'], { id: more.containerID, at: Date.now() });
        return containers.create(scope, spec, more);
      },
    },
  };
  const report = (event) => {
    if (event.type !== 'cellChanged') return;
    statuses.set(event.status, (statuses.get(event.status) ?? 0) + 1);
    waiting = waiting.filter((check) => !check());
  };
  const started = await startRun({
    plan,
    service,
    home,
    scope: SCOPE,
    baseDir: home,
    parallelism,
    reporter: { report },
  });
  if (!started.ok) throw new Error(started.error.message);
  return {
    createdAt,
    handle: started.value,
    until: (status, count) =>
      new Promise((resolve) => {
        const check = () => {
          const holds = (statuses.get(status) ?? 0) >= count;
          if (holds) resolve(performance.now());
          return holds;
        };
        if (!check()) waiting.push(check);
      }),
  };
}

/** `n` containers run, all end at once, and each has a dependent. */
async function measureWave(name, n) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const opened = await SERVICES[name](join(directory, 'service'));
  const steps = {};
  for (let i = 0; i < n; i++) steps[`a-${i}`] = step();
  for (let i = 0; i < n; i++) steps[`b-${i}`] = step(`a-${i}`);
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  const begun = performance.now();
  const run = await begin(opened, { plan: planOf(steps), home: join(directory, 'home'), parallelism: 2 * n });
  const submitted = (await run.until('running', n)) - begun;
  const submitLag = loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS;
  const before = await opened.requests?.();
  loop.reset();
  const [released, cpu] = [performance.now(), process.cpuUsage()];
  await opened.control('release');
  const decided = (await run.until('succeeded', n)) - released;
  const dependents = (await run.until('running', 2 * n)) - released;
  const { user, system } = process.cpuUsage(cpu);
  const [p99, max] = [loop.percentile(99), loop.max].map((ns) => ns / 1e6 - LOOP_RESOLUTION_MS);
  const after = await opened.requests?.();
  await run.handle.detach();
  const { groups, records } = readGroups(run.handle.directory);
  await opened.close();
  rmSync(directory, { recursive: true, force: true });
  const asked = (operation) =>
    after &&
    Object.entries(after).reduce(
      (sum, [key, count]) => sum + (operation.test(key) ? count - (before[key] ?? 0) : 0),
      0,
    );
  return {
    service: name,
    containers: n,
    'submit s': submitted / 1000,
    'lag p99 ms': submitLag,
    'decided s': decided / 1000,
    'dependents s': dependents / 1000,
    'CPU s': (user + system) / 1e6,
    'then lag p99 ms': p99,
    'max ms': max,
    'peak MiB': process.resourceUsage().maxRSS / 1024,
    'get+list a step': after ? asked(/get|list/i) / n : '',
    'records a sync': records / groups,
  };
}

/** Records of the journal, and the groups that were synced together. */
function readGroups(directory) {
  const lines = readFileSync(join(directory, 'journal.ndjson'), 'utf8').trimEnd().split('\n');
  const firsts = new Set(lines.map((line) => /"first":(\d+)/.exec(line)?.[1]));
  return { records: lines.length, groups: firsts.size };
}

/** Chains side by side: from a container's end to the create call of its dependent. */
async function measureGap(name, { chains, length, runMs }) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const opened = await SERVICES[name](join(directory, 'service'));
  await opened.control('runMs', runMs);
  const steps = {};
  for (let chain = 0; chain < chains; chain++) {
    for (let i = 0; i < length; i++) steps[`s-${chain}-${i}`] = i === 0 ? step() : step(`s-${chain}-${i - 1}`);
  }
  const run = await begin(opened, { plan: planOf(steps), home: join(directory, 'home'), parallelism: 1000 });
  const report = await run.handle.finished;
  if (report.status !== 'succeeded') throw new Error(`the run ${report.status}`);
  const ended = new Map(await opened.control('ended'));
  const counts = await opened.requests?.();
  const gaps = [];
  for (let chain = 0; chain < chains; chain++) {
    for (let i = 1; i < length; i++) {
      const from = ended.get(run.createdAt.get(`s-${chain}-${i - 1}`).id);
      gaps.push(run.createdAt.get(`s-${chain}-${i}`).at - from);
    }
  }
  await opened.close();
  rmSync(directory, { recursive: true, force: true });
  gaps.sort((a, b) => a - b);
  const at = (share) => gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))];
  const looks = counts && Object.entries(counts).reduce((sum, [key, n]) => sum + (/get|list/i.test(key) ? n : 0), 0);
  return {
    service: name,
    chains,
    'step ms': runMs,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'max ms': gaps.at(-1),
    'get+list a step': looks === undefined ? '' : looks / (chains * length),
  };
}

/** Durable records a second with so many waiting at a time. */
async function measureJournal(_, { waiting, records }) {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const opened = await openJournal(directory, { disk: createSystemDisk(), clock: createSystemClock() });
  if (!opened.ok) throw new Error(opened.error.message);
  const { journal } = opened.value;
  const record = (cell) => ({ kind: 'event', event: { type: 'submitted', at: Date.now(), step: 7, cell, attempt: 1 } });
  const cpu = process.cpuUsage();
  const begun = performance.now();
  let made = 0;
  const write = async () => {
    while (made < records) {
      journal.append(record(made++));
      await journal.commit();
    }
  };
  await Promise.all(Array.from({ length: waiting }, write));
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  await opened.value.release();
  const read = readGroups(directory);
  rmSync(directory, { recursive: true, force: true });
  return {
    waiting,
    'records/s': Math.round((records / ms) * 1000),
    'CPU us': (user + system) / records,
    'records a sync': read.records / read.groups,
    'us a sync': (ms * 1000) / read.groups,
  };
}

const CASES = { wave: measureWave, gap: measureGap, journal: measureJournal };

/** One case in a process of its own, so that memory and the event loop are its own. */
function apart(kind, ...args) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--case', kind, JSON.stringify(args)]);
    let row;
    child.on('message', (message) => {
      row = message;
    });
    child.on('exit', (code) => (row ? resolve(round(row)) : reject(new Error(`${kind} ended with ${code}`))));
  });
}

function round(row) {
  const digits = (value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value);
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [key, digits(value)]));
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--serve') await serve(rest[0]);
else if (first === '--case') {
  process.send(await CASES[rest[0]](...JSON.parse(rest[1])));
  process.disconnect();
  process.exit(0);
} else {
  const n = Number(first ?? 10_000);
  console.log(`load ${loadavg()[0]?.toFixed(1)} before the start`);
  const names = Object.keys(SERVICES);
  const table = async (cases) => {
    const rows = [];
    for (const make of cases) rows.push(await make());
    console.table(rows);
  };
  await table(names.map((name) => () => apart('wave', name, n)));
  await table([
    () => apart('gap', 'embedded', { chains: 8, length: 100, runMs: 20 }),
    () => apart('gap', 'simulated', { chains: 8, length: 10, runMs: 1000 }),
    () => apart('gap', 'http', { chains: 8, length: 10, runMs: 1000 }),
    () => apart('gap', 'http', { chains: 64, length: 3, runMs: 5000 }),
  ]);
  await table([1, 8, 64, 1000].map((waiting) => () => apart('journal', '', { waiting, records: 20_000 })));
}
