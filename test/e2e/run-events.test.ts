import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRuns } from '@sluice/home';
import type { CellChange, StreamEvents } from '@sluice/host';
import { SHOWN_STATUSES } from '@sluice/run';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { STREAM_EVENTS } from '../../packages/host/src/schemas/events.ts';
import { type ReceivedEvent, readEvents } from './event-client.ts';
import { type ServedApi, serveRunApi } from './run-api-rig.ts';
import { createWorkplace, until, type Workplace } from './workplace-rig.ts';

const PIPELINE = `version: 1
name: events
steps:
  list: { command: 'echo "[1, 2, 3, 4]" > /sluice/results/items', results: { items: array } }
  each: { foreach: "\${{ steps.list.results.items }}", command: 'sleep 0.2' }
  grid: { command: 'sleep 0.\${{ matrix.n }}', matrix: { n: [1, 2, 3, 4, 5, 6] } }
  flaky: { command: 'exit 3', retry: { limit: 2, backoff: { initial: 100ms } }, continueOnError: true }
  last: { command: 'true', needs: [each, grid, list] }
`;
const LETTER = new Map<string, string>(
  SHOWN_STATUSES.filter(({ reused }) => !reused).map(({ letter, status }) => [status, letter]),
);

let place: Workplace;
let api: ServedApi;

beforeEach(async () => {
  place = createWorkplace();
  writeFileSync(join(place.directory, 'pipeline.yaml'), PIPELINE);
  api = await serveRunApi({ home: place.home });
});

afterEach(async () => {
  await api.close();
  place.remove();
});

/** A client that knows nothing but the events. */
class Client {
  lastEventId: string | undefined;
  states: string[][] = [];
  position = 0;
  status = '';
  readonly changes: CellChange[] = [];
  readonly snapshots: { readonly position: number; readonly states: readonly string[] }[] = [];
  received = 0;

  take({ id, name, data }: ReceivedEvent): void {
    expect(() => STREAM_EVENTS[name as keyof typeof STREAM_EVENTS].parse(data)).not.toThrow();
    this.lastEventId = id;
    this.received++;
    if (name === 'snapshot') {
      const { position, states, run } = data as StreamEvents['snapshot'];
      this.states = states.map((row) => [...row]);
      this.changes.length = 0;
      [this.position, this.status] = [position, run.status];
    } else if (name === 'changes') {
      const { position, changes, run } = data as StreamEvents['changes'];
      for (const [at, , step, cell, status, , reused] of changes) {
        // Nothing that was received before is received again.
        expect(at).toBeGreaterThan(this.position);
        this.states[step]![cell] = reused ? 'e' : LETTER.get(status)!;
      }
      this.changes.push(...changes);
      [this.position, this.status] = [position, run.status];
    } else throw new Error(`unexpected event ${name}`);
    this.snapshots.push({ position: this.position, states: this.states.map((row) => row.join('')) });
  }
}

async function firstRun(): Promise<string> {
  let runId = '';
  await until(async () => {
    const [newest] = await listRuns(place.home);
    runId = newest?.runId ?? '';
    return newest !== undefined && (await fetch(`${api.url}/runs/${runId}`)).ok;
  }, 'the first record of the run');
  return runId;
}

test('a client misses nothing and receives nothing twice while the server is killed many times', async () => {
  const runner = place.start(['run', 'pipeline.yaml']);
  const runId = await firstRun();
  const client = new Client();
  for (let life = 0; client.status !== 'succeeded'; life++) {
    for await (const event of readEvents(`${api.url}/events?run=${runId}`, client.lastEventId)) {
      client.take(event);
      // Every second life of the server ends at its first event, the others at the third.
      if (client.status === 'succeeded' || client.received % (life % 2 === 0 ? 1 : 3) === 0) break;
    }
    await api.kill();
    api = await serveRunApi({ home: place.home });
  }
  expect(await runner.ended).toMatchObject({ exitCode: 0 });
  const { changes } = (await (await fetch(`${api.url}/runs/${runId}/changes?pageSize=100000`)).json()) as {
    changes: CellChange[];
  };
  const [first, ...later] = client.snapshots;
  expect(client.changes).toEqual(changes.filter(([position]) => position > first!.position));
  // What the client knew at each position is what a replay shows there.
  for (const { position, states } of [first!, ...later])
    expect(states, `position ${position}`).toEqual(replay(changes, position));
  const { states } = (await (await fetch(`${api.url}/runs/${runId}/states`)).json()) as { states: string[] };
  expect(client.states.map((row) => row.join(''))).toEqual(states);
});

/** The states at a position, from the changes alone. */
function replay(changes: readonly CellChange[], until: number): string[] {
  const states = ['w', '', 'wwwwww', 'w', 'w'].map((row) => [...row]);
  for (const [position, , step, cell, status, , reused] of changes) {
    if (position <= until) states[step]![cell] = reused ? 'e' : LETTER.get(status)!;
  }
  return states.map((row) => row.join(''));
}

test('a client that knows another journal gets a snapshot, and an unknown run is reported', async () => {
  expect(await place.sluice('run', 'pipeline.yaml')).toMatchObject({ exitCode: 0 });
  const runId = await firstRun();
  const firstEvent = async (query: string, id?: string) => {
    for await (const event of readEvents(`${api.url}/events?${query}`, id)) return event;
    throw new Error('no event');
  };
  const { id, name } = await firstEvent(`run=${runId}`);
  expect([name, id]).toEqual(['snapshot', expect.stringContaining(`${runId}:`)]);
  const [, epoch, position] = id.split(':');
  for (const other of [`${runId}:7:${position}:running`, `${runId}:${epoch}:99999:running`, 'nonsense']) {
    expect(await firstEvent(`run=${runId}`, other)).toMatchObject({ name: 'snapshot', id });
  }
  expect(await firstEvent(`run=${runId}`, `${runId}:${epoch}:${position}:running`)).toMatchObject({
    name: 'changes',
    data: { changes: [], run: { status: 'succeeded' } },
  });
  expect(await firstEvent('run=aaaaaaaaaaaaa')).toMatchObject({ name: 'missing', data: { runId: 'aaaaaaaaaaaaa' } });
});

test('the list of runs is followed from the last event', async () => {
  const events: ReceivedEvent[] = [];
  const runner = place.start(['run', 'pipeline.yaml']);
  for await (const event of readEvents(`${api.url}/events?list=true`)) {
    expect(() => STREAM_EVENTS.runs.parse(event.data)).not.toThrow();
    events.push(event);
    if ((event.data as StreamEvents['runs']).runs[0]?.status === 'succeeded') break;
  }
  await runner.ended;
  expect((events[0]!.data as StreamEvents['runs']).runs).toHaveLength(1);
  const second = place.start(['run', 'pipeline.yaml']);
  for await (const { data } of readEvents(`${api.url}/events?list=true`, events.at(-1)!.id)) {
    const { runs } = data as StreamEvents['runs'];
    // The first run has not changed.
    expect(runs.map(({ runId }) => runId)).not.toContain((events[0]!.data as StreamEvents['runs']).runs[0]!.runId);
    if (runs[0]?.status === 'succeeded') break;
  }
  await second.ended;
});
