import { fail, ok } from '@sluice/core';
import { followJournal } from '@sluice/home';
import { beforeAll, describe, expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { createRandom, type Random } from '../../../run/test/random.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import { createSpanCollector } from '../../src/trace/collect-spans.ts';
import { encodeSpans } from '../../src/trace/encode-spans.ts';
import { traceIdOf } from '../../src/trace/trace-ids.ts';
import type { TraceSink } from '../../src/trace/trace-sink.ts';
import { recordSampleRun, type SampleRun } from '../run/sample-run.ts';
import { createRig, type Rig } from '../simulation/rig.ts';
import { createProcess } from '../simulation/simulated-process.ts';
import { type ReceivedSpan, readTraceRequest } from './read-trace-request.ts';

let sample: SampleRun;

beforeAll(async () => {
  sample = await recordSampleRun();
});

/** All spans of a recorded run. */
async function collectAll({
  rig,
  plan,
  directory,
  runId,
}: Omit<SampleRun, 'journal' | 'records'>): Promise<ReceivedSpan[]> {
  const journal = followJournal(rig.disk, directory, plan);
  await journal.read();
  return readTraceRequest(encodeSpans(createSpanCollector(runId, journal.model).collect(0, Number.POSITIVE_INFINITY)));
}

describe('the spans of a run', () => {
  let spans: ReceivedSpan[];
  beforeAll(async () => {
    spans = await collectAll(sample);
  });

  test('are a tree of run, steps, cells and attempts', () => {
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect(byId.size).toBe(spans.length);
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(sample.runId)]));
    const pathOf = ({ name, parentSpanId }: ReceivedSpan): string =>
      parentSpanId === undefined ? name : `${pathOf(byId.get(parentSpanId)!)} > ${name}`;
    expect(spans.map(pathOf).sort()).toEqual([
      'sample',
      'sample > after',
      'sample > after > attempt 1',
      'sample > each',
      ...['0', '1', '2'].flatMap((key) => [
        `sample > each > each/${cellKey('each', key)}`,
        `sample > each > each/${cellKey('each', key)} > attempt 1`,
      ]),
      'sample > flaky',
      ...[1, 2, 3].map((attempt) => `sample > flaky > attempt ${attempt}`),
      'sample > grid',
      ...['0', '1', '2'].flatMap((key) => [
        `sample > grid > grid/${cellKey('grid', key)}`,
        `sample > grid > grid/${cellKey('grid', key)} > attempt 1`,
      ]),
      'sample > last',
      'sample > last > attempt 1',
      'sample > list',
      'sample > list > attempt 1',
    ]);
  });

  /** The key of the n-th cell of a step. */
  function cellKey(step: string, n: string): string {
    const keys = spans.filter(({ attributes }) => attributes['sluice.step'] === step && attributes['sluice.cell']);
    return [...new Set(keys.map(({ attributes }) => String(attributes['sluice.cell'])))].sort()[Number(n)]!;
  }

  test('last as long as what they stand for, each within its parent', () => {
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    for (const { parentSpanId, startMs, endMs } of spans) {
      const parent = byId.get(parentSpanId ?? '');
      if (parent === undefined) continue;
      expect(startMs).toBeGreaterThanOrEqual(parent.startMs);
      expect(endMs).toBeLessThanOrEqual(parent.endMs);
    }
  });

  test('say how each attempt has ended, in the words of the report', () => {
    const [first] = spans.filter(
      ({ name, attributes }) => name === 'attempt 1' && attributes['sluice.step'] === 'flaky',
    );
    expect(first).toMatchObject({
      error: expect.stringContaining('3'),
      events: ['submitted', 'running'],
      attributes: {
        'sluice.runId': sample.runId,
        'sluice.attempt': 1,
        'sluice.status': 'failed',
        'sluice.reason': 'failed',
        'sluice.exitCode': 3,
        'sluice.clusterId': 'sim',
        'error.type': 'failed',
      },
    });
    const run = spans.find(({ parentSpanId }) => parentSpanId === undefined)!;
    expect(run.attributes).toMatchObject({ 'sluice.status': 'succeeded', 'sluice.pipeline': 'sample' });
    expect(run).not.toHaveProperty('error');
  });

  test('are the same wherever the journal is cut, and whichever part was sent before', async () => {
    const { records, plan, runId, journal: bytes } = sample;
    expect(records.length).toBeGreaterThan(50);
    const disk = sample.rig.disk;
    for (let cut = 0; cut < bytes.length; cut += 997) {
      disk.files.set('/cut/journal.ndjson', bytes.subarray(0, cut));
      const journal = followJournal(disk, '/cut', plan);
      await journal.read();
      const before = createSpanCollector(runId, journal.model).collect(0, Number.POSITIVE_INFINITY);
      const { position } = journal.model;
      disk.files.set('/cut/journal.ndjson', bytes);
      const later = followJournal(disk, '/cut', plan);
      await later.read();
      const after = createSpanCollector(runId, later.model).collect(position, Number.POSITIVE_INFINITY);
      expect(readTraceRequest(encodeSpans([...before, ...after]))).toEqual(spans);
    }
  });
});

const NEED = (step: string) => ({ step, condition: 'succeeded' as const });
const PLAN = createHandPlan([
  createStep('grid', { matrix: { axes: { n: [1, 2, 3] }, include: [], exclude: [] } }),
  createStep('slow', { needs: [NEED('grid')] }),
  createStep('last', { needs: [NEED('slow')] }),
]);

/** A collector that is busy, or whose reply is lost, at most twice in a row: the third attempt of a process is its last. */
function createCollector(random: Random): TraceSink & { readonly spans: ReceivedSpan[] } {
  const spans: ReceivedSpan[] = [];
  let failures = 0;
  return {
    spans,
    async send(body) {
      const fault = failures < 2 && random.chance(0.4) ? random.pick(['busy', 'lost']) : undefined;
      failures = fault === undefined ? 0 : failures + 1;
      if (fault !== 'busy') spans.push(...readTraceRequest(body));
      return fault === undefined ? ok(undefined) : fail({ message: fault, isTemporary: true });
    },
  };
}

/** Each span once; throws if two with the same ID differ. */
function unite(spans: readonly ReceivedSpan[]): ReceivedSpan[] {
  const byId = new Map<string, ReceivedSpan>();
  for (const span of spans) {
    const known = byId.get(span.spanId);
    if (known !== undefined) expect(span).toEqual(known);
    byId.set(span.spanId, span);
  }
  return [...byId.values()];
}

const sorted = (spans: readonly ReceivedSpan[]) => [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));

/** Executes the run in processes that are killed, each after another number of operations. */
async function executeWithKills(rig: Rig, traces: TraceSink, random: Random): Promise<string> {
  const runId = 'aaaaaaaaaaaaa';
  for (let kills = 0; kills < 40; kills++) {
    const lifetime = kills < 30 ? 20 + random.below(120) : Number.POSITIVE_INFINITY;
    const process = createProcess({
      ...{ clock: rig.clock, disk: rig.disk, service: rig.simulated.service },
      onOperation: (number) => void (number >= lifetime && process.kill()),
    });
    const sink: TraceSink = { send: (body) => (process.alive ? traces.send(body) : new Promise(() => {})) };
    const options = { ...rig.options, ...process, traces: sink, runId };
    const isBegun = rig.disk.files.has(`/home/runs/${runId}/journal.ndjson`);
    const act = async () => {
      const opened = await (isBegun ? resumeRun(options) : startRun({ ...options, plan: PLAN, baseDir: '/base' }));
      return opened.ok ? await opened.value.finished : opened.error;
    };
    const outcome = await rig.go(Promise.race([act(), process.died]));
    if (outcome === undefined) continue;
    if ('code' in outcome) {
      if (outcome.code === 'RUN_FINISHED') return runId;
      throw new Error(outcome.message);
    }
    if (outcome.status === 'succeeded') return runId;
  }
  throw new Error('the run did not end');
}

describe('openTraceExport', () => {
  test.each(Array.from({ length: 60 }, (_, index) => index))(
    'loses no span when processes are killed (%i)',
    async (seed) => {
      const random = createRandom(`traces ${seed}`);
      const rig = createRig(`traces ${seed}`, { behave: { slow: { runMs: 60_000 }, grid: { runMs: 7_000 } } });
      const collector = createCollector(random);
      const runId = await executeWithKills(rig, collector, random);
      const expected = await collectAll({ rig, plan: PLAN, directory: `/home/runs/${runId}`, runId });
      expect(sorted(unite(collector.spans))).toEqual(sorted(expected));
    },
  );

  /** Executes the plan with this sink; resolves with the report's status and the warnings. */
  async function execute(rig: Rig, traces: TraceSink | undefined) {
    const started = await rig.go(startRun({ ...rig.options, ...(traces && { traces }), plan: PLAN, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const { status } = await rig.go(started.value.finished);
    const warnings = rig.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
    return { runId: started.value.runId, status, warnings };
  }

  test('sends nothing twice if every request is answered, also after a suspend', async () => {
    const rig = createRig('once', { behave: { slow: { runMs: 60_000 } } });
    const spans: ReceivedSpan[] = [];
    const send: TraceSink['send'] = async (body) => {
      spans.push(...readTraceRequest(body));
      return ok(undefined);
    };
    const options = { ...rig.options, traces: { send } };
    const started = await rig.go(startRun({ ...options, plan: PLAN, baseDir: '/base' }));
    if (!started.ok) throw new Error(started.error.message);
    const { runId, suspend } = started.value;
    await rig.until(() => spans.length > 0);
    expect(spans.map(({ name }) => name)).toContain('grid');
    await rig.go(suspend());
    const resumed = await rig.go(resumeRun({ ...options, runId }));
    if (!resumed.ok) throw new Error(resumed.error.message);
    await rig.go(resumed.value.finished);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(sorted(spans)).toEqual(
      sorted(await collectAll({ rig, plan: PLAN, directory: `/home/runs/${runId}`, runId })),
    );
  });

  test('a collector that is never reached delays only the end of the run, and is reported once', async () => {
    let requests = 0;
    const send: TraceSink['send'] = async () => {
      requests++;
      return fail({ message: 'could not reach it', isTemporary: true });
    };
    const { status, warnings } = await execute(createRig('unreached'), { send });
    expect(status).toBe('succeeded');
    expect(warnings).toEqual(['could not send all traces: could not reach it']);
    expect(requests).toBe(3);
  });

  test('spans that a collector rejects for good are not sent again', async () => {
    let requests = 0;
    const send: TraceSink['send'] = async () => {
      requests++;
      return fail({ message: 'it answered 400', isTemporary: false });
    };
    const { status, warnings } = await execute(createRig('rejected'), { send });
    expect({ status, requests, warnings }).toEqual({
      status: 'succeeded',
      requests: 1,
      warnings: ['could not send all traces: it answered 400'],
    });
  });

  test('each container knows its own span, which changes nothing else about it', async () => {
    const rig = createRig('parent');
    const spans: ReceivedSpan[] = [];
    await execute(rig, {
      async send(body) {
        spans.push(...readTraceRequest(body));
        return ok(undefined);
      },
    });
    const attempts = spans.filter(({ name }) => name.startsWith('attempt'));
    const parents = rig.created().map(({ wire }) => wire.envs?.TRACEPARENT);
    expect(parents.sort()).toEqual(attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).sort());
    const other = createRig('parent');
    await execute(other, undefined);
    expect(other.created().every(({ wire }) => wire.envs !== undefined && !('TRACEPARENT' in wire.envs))).toBe(true);
    const digests = ({ created }: Rig) => created().map(({ wire }) => wire.labels?.['sluice-spec']);
    expect(digests(other)).toEqual(digests(rig));
  });
});
