import type { Scope } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { parseJournal, parsePlan } from '@sluice/home';
import { type RunSummary, replayRun } from '@sluice/run';
import { describeRecord, type RunRecord } from './read-run-records.ts';

/** Runs that a server executes, or has executed, and of which this home has no copy, or an older one. */
export interface RunsElsewhere {
  readonly runs: readonly RunRecord[];
  /** Accounts whose runs could not be read: everything that they may use is kept. */
  readonly unknown: readonly UnknownAccount[];
}

/** An account on a server whose runs could not be read. */
export interface UnknownAccount extends Scope {
  readonly url: string;
  readonly problem: string;
}

/** What runs on servers need. */
export interface UseElsewhere {
  /** Why a run of the home must be kept; undefined if no run on a server needs it. */
  readonly describe: (run: RunRecord) => string | undefined;
  /** The runs whose sources must be kept. */
  readonly holding: readonly RunRecord[];
  readonly unknown: readonly UnknownAccount[];
}

/** Describes a run of a server by its files, as `readRunRecords` does for runs of the home. */
export function readServerRun(
  run: RunSummary,
  files: { readonly plan: Uint8Array; readonly journal: Uint8Array },
): Result<RunRecord, string> {
  const content = parseJournal(files.journal);
  if (!content.ok) return fail(`could not read the journal of run ${run.runId}: ${content.error}`);
  const plan = parsePlan(files.plan);
  if (!plan.ok) return fail(`could not read the plan of run ${run.runId}: ${plan.error}`);
  try {
    const replayed = replayRun(plan.value, content.value.records);
    return replayed ? ok(describeRecord(run, replayed.facts)) : fail(`run ${run.runId} has not begun`);
  } catch (error) {
    return fail(`could not read run ${run.runId}: ${(error as Error).message}`);
  }
}

/**
 * Finds what runs on servers need. An ended one counts for as long as this home would keep it. One in progress may reuse
 * any run that a server has executed in the same workspace, since it reads the server's cache index.
 */
export function findUseElsewhere({ runs, unknown }: RunsElsewhere, endedBefore: number): UseElsewhere {
  const isNeeded = ({ endedAt, retained }: RunRecord) =>
    endedAt === undefined || endedAt >= endedBefore || retained !== undefined;
  const holding = runs.filter(isNeeded);
  const users = new Map(holding.flatMap(({ runId, needs }) => [...(needs?.runs ?? [])].map((used) => [used, runId])));
  const active = holding.filter(({ endedAt }) => endedAt === undefined);
  return {
    holding,
    unknown,
    describe(run) {
      const away = unknown.find((account) => run.workspaces.some((one) => isSameAccount(one, account)));
      if (away !== undefined) return `a run on ${away.url} may reuse its outputs`;
      const user = users.get(run.runId);
      if (user !== undefined) return `run ${user} on a server reuses its outputs`;
      const other = run.isElsewhere && active.find((one) => sharesVolume(one, run));
      return other ? `run ${other.runId} is in progress on a server and may reuse its outputs` : undefined;
    },
  };
}

/** Whether two scopes name one account of one cluster. */
export function isSameAccount(one: Scope, other: Scope): boolean {
  return one.clusterID === other.clusterID && one.accountID === other.accountID;
}

function sharesVolume(one: RunRecord, other: RunRecord): boolean {
  return one.workspaces.some(({ volumeID }) => other.workspaces.some((workspace) => workspace.volumeID === volumeID));
}
