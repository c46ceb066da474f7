import { describe, expect, test } from 'vitest';
import { chooseGarbage, type GarbageRules } from '../../src/gc/choose-garbage.ts';
import type { RunRecord } from '../../src/gc/read-run-records.ts';

function record(runId: string, endedAt: number, more: Partial<RunRecord> = {}): RunRecord {
  const needs = { runs: new Set<string>(), sources: new Set<string>() };
  return { runId, pipeline: 'p', status: 'succeeded', createdAt: 0, endedAt, needs, workspaces: [], ...more };
}

const needing = (...runs: string[]) => ({ needs: { runs: new Set(runs), sources: new Set<string>() } });

function choose(records: readonly RunRecord[], rules: Partial<GarbageRules> = {}) {
  const { remove, keep } = chooseGarbage(records, {
    ...{ endedBefore: 100, cached: new Set(), describeUseElsewhere: () => undefined },
    ...rules,
  });
  return {
    remove: remove.map(({ runId }) => runId),
    keep: Object.fromEntries(keep.map(({ run, reason }) => [run.runId, reason])),
  };
}

describe('chooseGarbage', () => {
  test('removes what has ended and is old, and says why the others are kept', () => {
    const runs = [
      record('old', 10),
      record('suspended', 20, { status: 'suspended' }),
      record('damaged', 30, { status: 'suspended', problem: 'could not read it' }),
      record('young', 200),
    ];
    expect(choose(runs)).toEqual({
      remove: ['old'],
      keep: {
        suspended: 'it has not finished and can be resumed',
        damaged: 'could not read it',
        young: 'it is too recent',
      },
    });
  });

  test('removes a young run if its removal has begun, and of several only those that are named', () => {
    const runs = [record('a', 10), record('b', 200, { isCollecting: true, needs: undefined }), record('c', 20)];
    expect(choose(runs, { only: new Set(['b', 'c']) })).toMatchObject({ remove: ['b', 'c'] });
    const [named, user] = [record('a', 10), record('b', 20, needing('a'))];
    const keep = { a: 'run b reuses its outputs', b: 'it is not to be removed' };
    expect(choose([named, user], { only: new Set(['a']) })).toEqual({ remove: [], keep });
    expect(choose([named, user], { only: new Set(['a', 'b']) }).remove).toEqual(['a', 'b']);
  });

  test('keeps what a run that stays was made of, and what that was made of', () => {
    const runs = [record('a', 10), record('b', 20, needing('a')), record('c', 30), record('d', 200, needing('b'))];
    expect(choose(runs)).toEqual({
      remove: ['c'],
      keep: { a: 'run b reuses its outputs', b: 'run d reuses its outputs', d: 'it is too recent' },
    });
  });

  test('keeps everything that a run may need whose journal cannot be read', () => {
    const runs = [record('a', 10), record('odd', 200, { needs: undefined })];
    expect(choose(runs)).toMatchObject({ remove: [], keep: { a: expect.stringContaining('run odd') } });
  });

  test('keeps cached runs while a run is in progress', () => {
    const runs = [record('cached', 10), record('plain', 20), record('active', 0, { status: 'running' })];
    expect(choose(runs, { cached: new Set(['cached']) })).toMatchObject({
      remove: ['plain'],
      keep: { cached: 'run active is in progress and may reuse its outputs' },
    });
  });

  test('keeps what a run on a server needs, and what that was made of', () => {
    const runs = [record('a', 10), record('b', 20, needing('a')), record('c', 30)];
    const describeUseElsewhere = ({ runId }: RunRecord) => (runId === 'b' ? 'a server needs it' : undefined);
    expect(choose(runs, { describeUseElsewhere })).toEqual({
      remove: ['c'],
      keep: { a: 'run b reuses its outputs', b: 'a server needs it' },
    });
  });

  test('takes the oldest that are over until the rest fits', () => {
    const sizes: Record<string, number> = { a: 5, b: 50, c: 30, d: 20 };
    const runs = [record('a', 110), record('b', 120, { status: 'suspended' }), record('c', 130), record('d', 140)];
    const of = (runId: string) => sizes[runId]!;
    expect(choose(runs, { size: { max: 75, of } }).remove).toEqual(['a', 'c']);
    expect(choose(runs, { size: { max: 105, of } }).remove).toEqual([]);
  });
});
