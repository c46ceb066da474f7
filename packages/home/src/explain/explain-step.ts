import path from 'node:path';
import { choosesPipefail, ok, type Result } from '@sluice/core';
import {
  CELL_STATUSES,
  type CellFacts,
  type CellState,
  cellValuesOf,
  describeServiceHold,
  describeStatus,
  explainAttempts,
  explainCell,
  explainDependencies,
  explainUpstream,
  explainWait,
  findServiceHold,
  listRunImages,
  type ReplayedRun,
  type RunError,
  replayFiles,
  type StatusReport,
  type StepExplanation,
  type SuggestCommand,
  statusOfCell,
  suggestPlainly,
  traceCell,
} from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { findCell } from '../runs/find-cell.ts';
import { listRuns } from '../runs/list-runs.ts';
import { readPhase, readRunFiles, replayFromHome } from '../runs/read-run.ts';
import { explainCache } from './explain-cache.ts';
import { listOpenApprovals } from './list-open-approvals.ts';

/** The step to explain. */
export interface ExplainStepOptions {
  readonly home: string;
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** `STEP` or `STEP/CELL`. Without a cell, that one is explained whose state comes first in `PRIORITY`. */
  readonly step: string;
  readonly disk?: Disk;
  /** Renders the commands in the advice. Default: `sluice` and the arguments, unquoted. */
  readonly suggest?: SuggestCommand;
}

/** The scheduler's states by how much they need an explanation, most first. */
const PRIORITY: readonly CellState[] = [
  'failed',
  'errored',
  'timedOut',
  'awaitingApproval',
  'backingOff',
  'ready',
  'pending',
  'submitting',
  'running',
  'publishing',
  'checking',
  'waiting',
  'canceled',
  'skipped',
  'succeeded',
  'cached',
];

/** Why a step has its status, from the run's journal alone, during the run or after it. Changes nothing. */
export async function explainStep(options: ExplainStepOptions): Promise<Result<StepExplanation, RunError>> {
  const disk = options.disk ?? createSystemDisk();
  const home = path.resolve(options.home);
  const files = await readRunFiles(disk, home, options.runId);
  if (!files.ok) return files;
  const first = replayFiles(files.value);
  if (!first.ok) return first;
  const place = findCell(first.value, options.step);
  if (!place.ok) return place;
  const { step, cell = chooseCell(first.value, step) } = place.value;
  const { moves, history } = traceCell(step, cell);
  const replayed = replayFiles(files.value, moves);
  if (!replayed.ok) return replayed;
  const run = replayed.value;
  const planned = run.facts.plan.steps[step]!;
  const key = run.facts.cells[step]?.[cell]?.key ?? '';
  const known = run.facts.known[step]?.[cell];
  const hold = run.scheduler.state(step, cell) === 'pending' ? findServiceHold(run) : undefined;
  const message = hold
    ? describeServiceHold(hold)
    : (explainCell(run, step, cell) ?? explainRequest(run, { step, cell }));
  const wait = explainWait(run, { step, cell, history, suggest: options.suggest ?? suggestPlainly });
  return ok({
    runId: run.runId,
    pipeline: run.facts.plan.pipeline.name,
    runStatus: await readPhase(disk, run),
    step: planned.step.name,
    cell: key,
    ...cellValuesOf(run.facts, step, cell),
    ...statusOfCell(run, step, cell),
    cells: countCells(run, step),
    ...(message !== undefined && { message }),
    ...(wait && { wait }),
    ...(wait?.kind === 'approval' && (await explainApproval(run, { home, disk, step, key }))),
    ...(choosesPipefail(planned.step.command) && { pipefail: true }),
    dependencies: explainDependencies(run, step, cell),
    ...explainUpstream(run, step, cell),
    attempts: explainAttempts(run, step, cell),
    ...explainImage(run, planned.step.name),
    cache: await explainCache(run, { step: planned.step, key, known }, (earlier) =>
      replayFromHome(disk, home, earlier),
    ),
    ...findServiceWarnings(run, known),
    history,
  });
}

/** Of a cell whose container was requested: warnings about the service say why the reply is missing. */
function explainRequest(
  { scheduler }: ReplayedRun,
  { step, cell }: { step: number; cell: number },
): string | undefined {
  if (scheduler.state(step, cell) !== 'submitting') return undefined;
  return 'its container is requested from the service, which has not confirmed it';
}

async function explainApproval(
  run: ReplayedRun,
  { home, disk, step, key }: { home: string; disk: Disk; step: number; key: string },
): Promise<Pick<StepExplanation, 'approval'>> {
  const { name } = run.facts.plan.steps[step]!.step;
  const [approval] = await listOpenApprovals(run, {
    name: key === '' ? name : `${name}/${key}`,
    runs: await listRuns(home, disk),
    read: (runId) => replayFromHome(disk, home, runId),
  });
  return approval === undefined ? {} : { approval };
}

function chooseCell({ scheduler }: ReplayedRun, step: number): number {
  let best = 0;
  for (let cell = 1; cell < (scheduler.cellCount(step) ?? 0); cell++) {
    const isBetter = PRIORITY.indexOf(scheduler.state(step, cell)) < PRIORITY.indexOf(scheduler.state(step, best));
    if (isBetter) best = cell;
  }
  return best;
}

function countCells(run: ReplayedRun, step: number): StepExplanation['cells'] {
  const counts = new Map<string, { status: StatusReport; count: number }>();
  for (let cell = 0; cell < (run.scheduler.cellCount(step) ?? 1); cell++) {
    const status = statusOfCell(run, step, cell);
    const key = describeStatus(status);
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { status, count: 1 });
  }
  const order = ({ status }: { status: StatusReport }) => CELL_STATUSES.indexOf(status.status);
  return [...counts.values()].sort((a, b) => order(a) - order(b)).map(({ status, count }) => ({ ...status, count }));
}

function explainImage({ facts }: ReplayedRun, name: string): Pick<StepExplanation, 'image'> {
  const used = listRunImages(facts).find(({ steps }) => steps.includes(name));
  if (used === undefined) return {};
  const { steps: _, ...image } = used;
  return { image };
}

/** Warnings about the service, which may explain why the state of a container is unknown. */
function findServiceWarnings({ facts }: ReplayedRun, known: CellFacts | undefined): Pick<StepExplanation, 'warnings'> {
  const warnings = facts.warnings.filter(({ concerns }) => concerns === 'service');
  const hasAsked = known?.attempts.some(({ id }) => id !== undefined) ?? false;
  return hasAsked && warnings.length > 0 ? { warnings } : {};
}
