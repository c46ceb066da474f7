import type { ServiceStep, Step } from '@sluice/core';
import { decodeLine, encodeLine, journalPath, readRun, runDirectory } from '@sluice/home';
import { describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';

const MINUTE = 60_000;

interface World {
  readonly rig: Rig;
  /** Minutes since the container was created. */
  readonly minutes: () => number;
  readonly start: (probe: (url: string) => Promise<string | undefined>) => ReturnType<typeof startRun>;
}

/** A service step `web`, probed at a port, and its dependent `use`. */
function createWorld(seed: string, ready: Partial<ServiceStep['ready']>, step: Partial<Step> = {}): World {
  const plan = createHandPlan([
    createStep('web', {
      service: { ready: { port: 'http', path: '/', ...ready } },
      ports: { http: { https: true } },
      ...step,
    }),
    createStep('use', { needs: [{ step: 'web', condition: 'running' }] }),
  ]);
  const rig = createRig(seed, { behave: { web: { runMs: 1000 * MINUTE } } });
  const began = rig.clock.now();
  return {
    rig,
    minutes: () => Math.floor((rig.clock.now() - began) / MINUTE),
    start: (probe) => rig.go(startRun({ ...rig.options, plan, baseDir: '/base', probe })),
  };
}

async function finish({ rig }: World, started: Awaited<ReturnType<typeof startRun>>) {
  if (!started.ok) throw new Error(started.error.message);
  return await rig.go(started.value.finished);
}

/** Starts the run with a check that never succeeds, and leaves it after some minutes. Resolves to its ID. */
async function startAndLeave(world: World, afterMinutes: number): Promise<string> {
  const started = await world.start(never);
  if (!started.ok) throw new Error(started.error.message);
  await world.rig.until(() => world.minutes() >= afterMinutes);
  await world.rig.go(started.value.suspend());
  return started.value.runId;
}

const never = async () => 'getaddrinfo ENOTFOUND web.example';

describe('a service step', () => {
  test('lets its dependents start when it answers, and is cancelled after the last of them', async () => {
    const world = createWorld('service', { path: '/healthz' });
    const { rig } = world;
    const probed: string[] = [];
    let shown: Awaited<ReturnType<typeof readRun>> | undefined;
    const started = await world.start(async (url) => {
      const run = rig.events[0]?.runId ?? '';
      if (probed.push(url) === 1) shown = await readRun('/home', run, rig.disk);
      return probed.length > 2 ? undefined : 'not yet';
    });
    const report = await finish(world, started);
    expect(report.steps.map(({ step: name, status }) => [name, status])).toEqual([
      ['web', 'succeeded'],
      ['use', 'succeeded'],
    ]);
    expect(probed).toHaveLength(3);
    const states = rig.events.flatMap((event) => (event.type === 'containerState' ? [event] : []));
    expect(states.filter(({ phase }) => phase === 'Running')).toMatchObject([
      { step: 'web', message: `port http is at ${probed[0]?.replace('/healthz', '')}` },
    ]);
    expect(probed[0]).toMatch(/^https:\/\/.*\/healthz$/);
    const ports = { http: { url: probed[0]?.replace('/healthz', '') } };
    const cells = rig.events.flatMap((event) => (event.type === 'cellChanged' && event.step === 'web' ? [event] : []));
    expect(shown).toMatchObject({ value: { steps: [{ cells: [{ status: 'running', ports }] }, {}] } });
    expect(cells.map((event) => [event.status, event.ports])).toContainEqual(['running', ports]);
    expect(cells.filter(({ status }) => status !== 'running').every((event) => event.ports === undefined)).toBe(true);
    expect(report.steps[0]?.cells[0]).not.toHaveProperty('ports');
  });

  test('that is not ready for long has a warning with each reason, once', async () => {
    const world = createWorld('unready', {});
    const { rig } = world;
    const began = rig.clock.now();
    const started = await world.start(async () => {
      const seconds = (rig.clock.now() - began) / 1000;
      if (seconds < 10) return 'rejected';
      if (seconds < 60) return 'getaddrinfo ENOTFOUND web.example';
      return seconds < 90 ? 'status 503' : undefined;
    });
    expect((await finish(world, started)).status).toBe('succeeded');
    const warnings = rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    expect(warnings).toEqual([
      expect.stringMatching(/^service step web is not ready after 30 s: getaddrinfo ENOTFOUND web\.example;/),
      expect.stringMatching(/^service step web is not ready after 6\d s: status 503;/),
    ]);
  });
});

test('the path of a readiness check never changes the host', async () => {
  const world = createWorld('path', { path: '@other.example/' }, {});
  const probed: string[] = [];
  await finish(
    world,
    await world.start(async (url) => {
      probed.push(new URL(url).hostname);
      return undefined;
    }),
  );
  expect(probed).not.toEqual([]);
  expect(probed).not.toContain('other.example');
});

test('the ports of a journal are not probed: a resumed run asks the service', async () => {
  const world = createWorld('forged', {});
  const { rig } = world;
  const runId = await startAndLeave(world, 2);
  forgePorts(rig, runId);
  const probed: string[] = [];
  const probe = async (url: string) => {
    probed.push(url);
    return undefined;
  };
  const resumed = await rig.go(resumeRun({ ...rig.options, runId, probe }));
  expect((await finish(world, resumed)).status).toBe('succeeded');
  expect(probed).toEqual([`https://${rig.created()[0]?.wire.ports?.http?.https?.host}/`]);
});

/** As a client could hand the journal over: every line is well-formed. */
function forgePorts(rig: Rig, runId: string): void {
  const file = journalPath(runDirectory('/home', runId));
  const lines = Buffer.from(rig.disk.files.get(file)!).toString().trimEnd().split('\n');
  const forged = lines.map((text) => {
    const line = decodeLine(Buffer.from(text))!;
    const { record } = line;
    if (record.kind !== 'event' || record.event.type !== 'running') return `${text}\n`;
    const container = { ...record.facts?.container, ports: { http: { port: 25, host: 'inside.example' } } };
    return encodeLine({ ...line, record: { ...record, facts: { ...record.facts, container } } });
  });
  expect(forged.join('')).toContain('inside.example');
  rig.disk.files.set(file, Buffer.from(forged.join('')));
}

describe('a service that is never ready', () => {
  test.each([
    ['after 10 minutes', {}, {}, 10, '10 min 00 s'],
    ['after the limit of its check', { timeoutMs: 25 * MINUTE }, {}, 25, '25 min 00 s'],
    [
      'after the limit of its check, before its timeout',
      { timeoutMs: MINUTE },
      { timeoutMs: 60 * MINUTE },
      1,
      '1 min 00 s',
    ],
  ])('times out %s, with the last reason', async (name, ready, step, after, words) => {
    const world = createWorld(name, ready, step);
    const report = await finish(world, await world.start(never));
    expect(report.failures).toMatchObject([
      {
        step: 'web',
        reason: 'timeout',
        message: `it was not ready within ${words}: getaddrinfo ENOTFOUND web.example`,
      },
    ]);
    expect(report.steps.map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(world.minutes()).toBe(after);
    expect(world.rig.created().map(({ wire }) => wire.phase)).toEqual(['Canceled']);
  });

  test('has the timeout of its step as its limit, if that is all it has', async () => {
    const world = createWorld('own', {}, { timeoutMs: 40 * MINUTE });
    const report = await finish(world, await world.start(never));
    expect(report.failures).toMatchObject([{ step: 'web', reason: 'timeout', message: /timeout/ }]);
    expect(world.minutes()).toBe(40);
  });

  test('is tried again as the retry says', async () => {
    const backoff = { initialMs: 0, factor: 1, maxMs: 0 };
    const retry = { limit: 1, on: ['timeout' as const], backoff, escalate: [], infrastructure: 0 };
    const world = createWorld('retried', {}, { retry });
    const report = await finish(world, await world.start(never));
    expect(report.failures.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(world.minutes()).toBe(20);
  });

  test('times out at its recorded limit when the run is resumed', async () => {
    const world = createWorld('resumed', {});
    const { rig } = world;
    const runId = await startAndLeave(world, 7);
    const resumed = await rig.go(resumeRun({ ...rig.options, runId, probe: never }));
    const report = await finish(world, resumed);
    expect(report.failures).toMatchObject([{ step: 'web', reason: 'timeout' }]);
    expect(world.minutes()).toBe(10);
  });
});

test('a service that became ready while no runner was attached is ready, though its limit has passed', async () => {
  const world = createWorld('late', {});
  const { rig } = world;
  const runId = await startAndLeave(world, 2);
  await rig.until(() => world.minutes() >= 30);
  let probes = 0;
  // The first check of a machine that has just woken up may fail.
  const probe = async () => (probes++ < 3 ? 'fetch failed' : undefined);
  const resumed = await rig.go(resumeRun({ ...rig.options, runId, probe }));
  expect((await finish(world, resumed)).status).toBe('succeeded');
});
