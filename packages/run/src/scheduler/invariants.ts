import { CODE, FIRST_TERMINAL, isLive } from './model/state-code.ts';
import { PHASE, type RunState } from './state/run-state.ts';

/** See `Scheduler.assertInvariants`. */
export function assertInvariants(run: RunState): void {
  const counts = new Int32Array(run.counts.length);
  const used = new Int32Array(run.queue.limits.length);
  let live = 0;
  for (let step = 0; step < run.index.stepCount; step++) {
    let open = 0;
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      const state = run.cells.state[run.cellBase[step]! + cell]!;
      counts[state]!++;
      if (state < FIRST_TERMINAL) open++;
      if (!isLive(state)) continue;
      live++;
      const lane = run.queue.lanes[run.index.lane[step]!]!;
      lane.limits.forEach((limit, i) => {
        used[limit]! += lane.amounts[i]!;
      });
    }
    check(open === run.openCells[step], `step ${step} has ${open} open cells, its counter says ${run.openCells[step]}`);
    check(
      (run.phase[step] === PHASE.ended) === (open === 0),
      `step ${step} has ${open} open cells in phase ${run.phase[step]}`,
    );
    check(
      run.phase[step] !== PHASE.waiting || run.blockers[step]! > 0 || !run.started,
      `step ${step} waits for nothing`,
    );
  }
  check(
    counts.join() === run.counts.join(),
    `cells by state are ${counts.join()}, the counters say ${run.counts.join()}`,
  );
  checkQueue(run, { live, used });
}

function checkQueue(run: RunState, { live, used }: { live: number; used: Int32Array }): void {
  const { queue } = run;
  check(live === queue.held, `${live} cells are live, ${queue.held} hold capacity`);
  check(live <= queue.capacity, `${live} cells are live, ${queue.capacity} may be`);
  queue.limits.forEach((limit, i) => {
    check(
      used[i] === limit.used,
      `${limit.kind} ${limit.name} is used ${used[i]} times, its counter says ${limit.used}`,
    );
    check(limit.used <= limit.size, `${limit.kind} ${limit.name} is used ${limit.used} times of ${limit.size}`);
  });
  const queued = queue.lanes.reduce((sum, lane) => sum + lane.cells.size, 0);
  check(queued === run.counts[CODE.ready], `${queued} cells are queued, ${run.counts[CODE.ready]} are ready`);
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new Error(`the scheduler contradicts itself: ${message}`);
}
