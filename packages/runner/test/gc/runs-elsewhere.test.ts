import { describe, expect, test } from 'vitest';
import type { RunRecord } from '../../src/gc/read-run-records.ts';
import { findUseElsewhere, readServerRun } from '../../src/gc/runs-elsewhere.ts';

const SCOPE = { clusterID: 'main', accountID: 'physics' };

function record(runId: string, more: Partial<RunRecord> = {}): RunRecord {
  const needs = { runs: new Set<string>(), sources: new Set<string>() };
  const workspaces = [{ ...SCOPE, volumeID: 'ws' }];
  return { runId, pipeline: 'p', status: 'succeeded', createdAt: 0, endedAt: 10, needs, workspaces, ...more };
}

const needing = (...runs: string[]) => ({ needs: { runs: new Set(runs), sources: new Set<string>() } });
const { endedAt: _, ...open } = record('open', { status: 'running' });
const find = (...runs: RunRecord[]) => findUseElsewhere({ runs, unknown: [] }, 100);

describe('findUseElsewhere', () => {
  test('an ended run counts if the home would keep it', () => {
    const described = (user: Partial<RunRecord>) =>
      find(record('user', { ...needing('a'), ...user })).describe(record('a'));
    expect(described({ endedAt: 200 })).toBe('run user on a server reuses its outputs');
    expect(described({ endedAt: 50 })).toBe(undefined);
    expect(described({ endedAt: 50, retained: 'a.b' })).toBe('run user on a server reuses its outputs');
  });

  test('a run in progress may reuse what a server has executed in its workspace', () => {
    const { describe: describeUse, holding } = find(open);
    expect(holding).toEqual([open]);
    expect(describeUse(record('a', { isElsewhere: true }))).toBe(
      'run open is in progress on a server and may reuse its outputs',
    );
    expect(describeUse(record('a'))).toBe(undefined);
    const workspaces = [{ ...SCOPE, volumeID: 'other' }];
    expect(describeUse(record('a', { isElsewhere: true, workspaces }))).toBe(undefined);
  });

  test('everything in an account is kept if it is unknown what its runs use', () => {
    const unknown = [{ ...SCOPE, url: 'https://server.example', problem: 'no reply' }];
    const { describe: describeUse } = findUseElsewhere({ runs: [], unknown }, 100);
    expect(describeUse(record('a'))).toBe('a run on https://server.example may reuse its outputs');
    const workspaces = [{ clusterID: 'main', accountID: 'chemistry', volumeID: 'ws' }];
    expect(describeUse(record('a', { workspaces }))).toBe(undefined);
  });
});

test.each([
  ['{', '', 'could not read the plan of run'],
  ['{}', 'nonsense\nnonsense\n', 'could not read'],
  ['{"format":2,"pipeline":{"steps":[],"finally":[]},"steps":[]}', '', 'has not begun'],
])('readServerRun says what is wrong with the files %s and %j', (plan, journal, message) => {
  const files = { plan: Buffer.from(plan), journal: Buffer.from(journal) };
  const { endedAt, needs, workspaces, ...summary } = record('aaaaaaaaaaaaa');
  expect(readServerRun(summary, files)).toMatchObject({ ok: false, error: expect.stringContaining(message) });
});
