import path from 'node:path';
import { fail, type Result } from '@sluice/core';
import { z } from 'zod';
import { withHomeLock } from '../journal/home-lock.ts';
import { askRunner } from './ask-runner.ts';
import type { FilledOptions } from './run-defaults.ts';
import { runDirectory } from './run-home.ts';
import type { RunRefusal, StartRunOptions } from './run-options.ts';

/** Group to the runs that entered it, oldest first. */
const groupsSchema = z.record(z.string(), z.array(z.string()));
type Groups = z.infer<typeof groupsSchema>;

export interface GroupEntry {
  readonly group: string;
  readonly runId: string;
}

const PAUSE_MS = 500;

/**
 * Opens a run when its concurrency group has room (pipeline.md). Who is in a group is not counted up and down: a run is
 * in it for as long as a living runner holds the run, so that a crash can never leave a place taken.
 */
export async function enterGroup<T>(
  options: FilledOptions<StartRunOptions>,
  entry: GroupEntry,
  open: () => Promise<Result<T, RunRefusal>>,
): Promise<Result<T, RunRefusal>> {
  const { clock, disk, home, plan, reporter } = options;
  const { limit, behavior } = plan.pipeline.concurrency!;
  /** Runs that have taken the request to end; one that is only being taken up is asked again. */
  const told = new Set<string>();
  let hasWarned = false;
  for (;;) {
    let live: readonly string[] = [];
    const opened = await withHomeLock({ ...options, name: 'groups' }, async () => {
      const groups = await readGroups(options);
      live = await findLive(options, groups[entry.group] ?? []);
      if (live.length >= limit) return undefined;
      const result = await open();
      const next = { ...groups, [entry.group]: [...live, entry.runId] };
      if (result.ok) await disk.replace(groupsPath(home), Buffer.from(JSON.stringify(next)));
      return result;
    });
    if (opened) return opened;
    if (behavior === 'fail') return fail({ code: 'GROUP_BUSY', message: describeBusy(entry.group, live) });
    for (const runId of behavior === 'cancel' ? live.slice(0, live.length - limit + 1) : []) {
      if (told.has(runId)) continue;
      const by = `run ${entry.runId} of group ${entry.group}`;
      if ((await askRunner(disk, runDirectory(home, runId), { verb: 'cancel', by })) === 'ok') told.add(runId);
    }
    if (told.size === 0 && !hasWarned) {
      reporter?.report({ type: 'warning', at: clock.now(), message: `${describeBusy(entry.group, live)}; waiting` });
      hasWarned = true;
    }
    await new Promise<void>((resolve) => {
      clock.setTimer(clock.now() + PAUSE_MS, resolve);
    });
  }
}

async function findLive(options: FilledOptions<StartRunOptions>, runIds: readonly string[]): Promise<string[]> {
  const live: string[] = [];
  for (const runId of runIds) {
    if ((await options.disk.ask(runDirectory(options.home, runId), '')) !== undefined) live.push(runId);
  }
  return live;
}

async function readGroups({ disk, home }: FilledOptions<StartRunOptions>): Promise<Groups> {
  const bytes = await disk.read(groupsPath(home));
  return bytes ? groupsSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))) : {};
}

function groupsPath(home: string): string {
  return path.join(home, 'groups.json');
}

function describeBusy(group: string, live: readonly string[]): string {
  return `the concurrency group ${group} is taken by run ${live.join(', ')}`;
}
