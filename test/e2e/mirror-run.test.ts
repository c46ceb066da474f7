import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '@sluice/client';
import { createPlan, parsePipeline } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { updateMirror } from '../../packages/cli/src/runs/mirror-run.ts';
import { createSystemClock } from '../../packages/home/src/clock.ts';
import { encodeLine } from '../../packages/home/src/journal/line-codec.ts';
import { openJournal } from '../../packages/home/src/journal/open-journal.ts';
import { createSystemDisk } from '../../packages/home/src/journal/system-disk.ts';
import { serializePlan } from '../../packages/home/src/runs/run-home.ts';
import type { JournalLine } from '../../packages/run/src/records/journal-line.ts';

const RUN = 'aaaaaaaaaaaaa';
const PIPELINE = 'version: 1\nname: p\nsteps:\n  a: { command: [x] }\n';
let home: string;
let directory: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'mirror-'));
  directory = join(home, 'runs', RUN);
  await mkdir(directory, { recursive: true });
  writeFileSync(join(directory, 'summary.json'), JSON.stringify({ pipeline: 'p', createdAt: 1 }));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function line(seq: number): string {
  const header = { kind: 'run', runId: RUN, pipeline: 'p', format: 2, at: 1, scheduler: {} };
  const record = seq === 1 ? header : { kind: 'warning', at: seq, message: `line ${seq}` };
  return encodeLine({ seq, first: 1, epoch: 1, record } as unknown as JournalLine);
}

function createPlanFile(): Uint8Array {
  const parsed = parsePipeline({ file: 'p.yaml', text: PIPELINE });
  const plan = parsed.ok ? createPlan(parsed.value.pipeline, { params: {} }) : parsed;
  if (!plan.ok) throw new Error(JSON.stringify(plan.error));
  return serializePlan(plan.value);
}

/** A server whose journal has this many lines. */
const serverWith = (lines: number) => {
  const journal = Buffer.from(Array.from({ length: lines }, (_, at) => line(at + 1)).join(''));
  return {
    readPlan: async () => createPlanFile(),
    readJournal: async (_: string, offset: number) => journal.subarray(offset),
  };
};

const fails = (reason: string, details = {}) => {
  const fail = async () => {
    throw new ServiceError('NOT_FOUND', 'it is not here', { status: 404, reason, details });
  };
  return { readPlan: fail, readJournal: fail };
};

function writeCustody(state: string): void {
  const place = { service: 'https://server.example', cluster: 'main', account: 'physics', publish: {} };
  writeFileSync(join(directory, 'custody.json'), JSON.stringify({ state, place }));
}

const read = (name: string) => readFileSync(join(directory, name), 'utf8');
const stateOf = () => (JSON.parse(read('custody.json')) as { state: string }).state;

/** Whether a process of this home may execute the run. */
async function mayExecute(): Promise<boolean> {
  const opened = await openJournal(directory, {
    ...{ disk: createSystemDisk(), clock: createSystemClock() },
    reject: () => undefined,
  });
  if (opened.ok) await opened.value.release();
  else expect(opened.error.code).toBe('RUN_HOSTED');
  return opened.ok;
}

test('updateMirror copies a run whose order is open, which counts as accepted from then on', async () => {
  writeCustody('ordering');
  expect(await mayExecute()).toBe(false);
  expect(await updateMirror({ home, runId: RUN, server: serverWith(2) })).toMatchObject({ ok: true });
  expect([stateOf(), read('journal.ndjson')]).toEqual(['server', line(1) + line(2)]);
  expect(JSON.parse(read('plan.json'))).toMatchObject({ pipeline: { name: 'p' } });
  await updateMirror({ home, runId: RUN, server: serverWith(3) });
  expect(read('journal.ndjson')).toContain('line 3');
  expect(await mayExecute()).toBe(false);
});

test('updateMirror leaves the order of a run open that the server does not have', async () => {
  writeCustody('ordering');
  await expect(updateMirror({ home, runId: RUN, server: fails('RUN_NOT_FOUND') })).rejects.toThrow('it is not here');
  expect([stateOf(), existsSync(join(directory, 'plan.json'))]).toEqual(['ordering', false]);
  expect(await mayExecute()).toBe(false);
});

test.each(['ordering', 'server'])('a run that the server has removed counts as ended (%s)', async (state) => {
  writeCustody(state);
  const removed = fails('RUN_REMOVED', { status: 'failed', endedAt: '2030-01-02T00:00:00.000Z' });
  await expect(updateMirror({ home, runId: RUN, server: removed })).rejects.toThrow('it is not here');
  const ended = { pipeline: 'p', createdAt: 1, status: 'failed', endedAt: Date.parse('2030-01-02') };
  expect([stateOf(), JSON.parse(read('summary.json'))]).toEqual(['server', ended]);
  expect(await mayExecute()).toBe(false);
});

test('updateMirror does nothing for a run of this home', async () => {
  expect(await updateMirror({ home, runId: RUN, server: fails('RUN_NOT_FOUND') })).toMatchObject({ ok: true });
});
