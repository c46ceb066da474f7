import type { ContainerService } from '@sluice/client';
import { createCounter, createHistogram, type MetricFamily } from '@sluice/host-system';
import { type Reporter, runPhase } from '@sluice/run';
import { openFollowers } from '../runs/open-followers.ts';
import { openRunList, type RunList } from '../runs/run-list.ts';
import { measureCalls } from './measure-calls.ts';
import { measureRuns } from './measure-runs.ts';

/** Upper bounds in seconds. */
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of a process that executes runs. They name no pipeline, since `/metrics` needs no login. */
export interface HostMetrics {
  /** The same service, whose calls are measured. */
  measure(service: ContainerService): ContainerService;
  /** Receives the events of all runs that this process executes. */
  readonly reporter: Reporter;
  /** This process no longer executes the run. */
  leave(runId: string): void;
  /** This process does not execute the run, since its files describe none. The operator should look at it. */
  setAside(runId: string): void;
  /** Counts the runs of this home, whichever process executes them. */
  addHome(home: string): void;
  read(): Promise<readonly MetricFamily[]>;
}

/** Counts in memory, from 0 at each start. */
export function createHostMetrics(): HostMetrics {
  const homes = new Map<string, RunList>();
  const runs = measureRuns();
  const setAside = new Set<string>();
  const calls = createCounter({
    name: 'sluice_service_calls_total',
    help: 'Calls of runs to their service; creating containers is submitting, listing them is polling',
  });
  const latency = createHistogram(
    { name: 'sluice_service_call_seconds', help: 'Time until the service answered a call of a run' },
    CALL_BUCKETS,
  );
  return {
    measure: (service) =>
      measureCalls(service, ({ call, reply, seconds }) => {
        calls.add({ call, reply });
        latency.observe(seconds, { call });
      }),
    reporter: runs,
    leave: runs.leave,
    setAside: (runId) => void setAside.add(runId),
    addHome(home) {
      if (!homes.has(home)) homes.set(home, openRunList(home, openFollowers(home)));
    },
    read: async () => [
      await countRuns([...homes.values()]),
      {
        name: 'sluice_runs_set_aside',
        type: 'gauge',
        help: 'Runs that this process does not execute, since their files are damaged; the log names them',
        samples: [{ value: setAside.size }],
      },
      ...runs.families(),
      ...[calls.family(), latency.family()],
    ],
  };
}

async function countRuns(lists: readonly RunList[]): Promise<MetricFamily> {
  const found = (await Promise.all(lists.map((list) => list.read()))).flat();
  const samples = runPhase.options.map((status) => ({
    labels: { status },
    value: found.filter((run) => run.status === status).length,
  }));
  return { name: 'sluice_runs', type: 'gauge', help: 'Runs of the home by status', samples };
}
