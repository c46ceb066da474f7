import { createCounter, createHistogram, type MetricFamily } from '@sluice/host-system';
import { cellStatus, ENDED_STATUSES, type Reporter, type RunnerEvent } from '@sluice/run';

/** Upper bounds in seconds: from steps of a moment to those of a day. */
const BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400];

type CellEvent = Extract<RunnerEvent, { readonly type: 'cellChanged' }>;
type Status = CellEvent['status'];

/** The times of an attempt that are measured. */
type Period = 'wait' | 'queue' | 'run';
const PERIOD: Readonly<Partial<Record<Status, Period>>> = {
  ready: 'wait',
  submitting: 'wait',
  pending: 'queue',
  running: 'run',
};

/** A cell between its first event and its end. */
interface LiveCell {
  readonly status: Status;
  /** When its period began; undefined if that was before this process executed the run. */
  readonly since: number | undefined;
}

interface LiveRun {
  readonly counts: Map<Status, number>;
  readonly cells: Map<string, LiveCell>;
}

/** Metrics of the runs that this process executes. */
export interface RunMetrics extends Reporter {
  /** This process no longer executes the run. */
  leave(runId: string): void;
  families(): readonly MetricFamily[];
}

/** Measures runs by their events. */
export function measureRuns(): RunMetrics {
  const runs = new Map<string, LiveRun>();
  const finished = createCounter({ name: 'sluice_runs_finished_total', help: 'Runs that ended in this process' });
  const periods = createPeriods();
  return {
    report(event) {
      if (event.type === 'runStarted') runs.set(event.runId, openRun(event.steps));
      const run = runs.get(event.runId);
      if (event.type === 'stepExpanded' && run) count(run, 'waiting', event.cells.length - 1);
      if (event.type === 'cellChanged' && run) change(run, event, periods);
      if (event.type !== 'runFinished') return;
      finished.add({ status: event.report.status });
      runs.delete(event.runId);
    },
    leave: (runId) => void runs.delete(runId),
    families: () => [
      {
        name: 'sluice_runs_executing',
        type: 'gauge',
        help: 'Runs that this process executes',
        samples: [{ value: runs.size }],
      },
      finished.family(),
      {
        name: 'sluice_cells',
        type: 'gauge',
        help: 'Steps and cells of the runs that this process executes, by status',
        samples: cellStatus.options.map((status) => ({ labels: { status }, value: sum(runs, status) })),
      },
      ...Object.values(periods).map((histogram) => histogram.family()),
    ],
  };
}

function createPeriods() {
  return {
    wait: createHistogram(
      { name: 'sluice_cell_wait_seconds', help: 'From when a step or cell may start until its container exists' },
      BUCKETS,
    ),
    queue: createHistogram(
      { name: 'sluice_cell_queue_seconds', help: 'From when a container exists until it runs' },
      BUCKETS,
    ),
    run: createHistogram({ name: 'sluice_cell_run_seconds', help: 'How long a container ran' }, BUCKETS),
  };
}

function openRun(steps: Extract<RunnerEvent, { readonly type: 'runStarted' }>['steps']): LiveRun {
  const waiting = steps.reduce((total, { cells }) => total + (cells?.length ?? 1), 0);
  return { counts: new Map([['waiting', waiting]]), cells: new Map() };
}

function change(run: LiveRun, { step, cell, status, at }: CellEvent, periods: ReturnType<typeof createPeriods>): void {
  const key = `${step}/${cell}`;
  const before = run.cells.get(key);
  count(run, before?.status ?? 'waiting', -1);
  count(run, status, 1);
  const [last, next] = [before && PERIOD[before.status], PERIOD[status]];
  const isNew = before === undefined || last !== next;
  if (before?.since !== undefined && last !== undefined && isNew) {
    const seconds = Math.max(0, at - before.since) / 1000;
    // What never got further says nothing about the time that it takes.
    if (last === 'run' || next === 'run' || next === 'queue') periods[last].observe(seconds);
    if (last === 'wait' && next === 'run') periods.queue.observe(0);
  }
  if (ENDED_STATUSES.has(status)) {
    run.cells.delete(key);
    return;
  }
  const isUnknown = before === undefined && (next === 'queue' || next === 'run');
  const began = isUnknown ? undefined : at;
  run.cells.set(key, { status, since: isNew ? began : before.since });
}

function count({ counts }: LiveRun, status: Status, by: number): void {
  counts.set(status, (counts.get(status) ?? 0) + by);
}

function sum(runs: ReadonlyMap<string, LiveRun>, status: Status): number {
  return [...runs.values()].reduce((total, { counts }) => total + (counts.get(status) ?? 0), 0);
}
