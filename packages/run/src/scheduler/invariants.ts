import { CODE, FIRST_TERMINAL, isLive } from './model/state-code.ts';
import { cellsBehind, gateCount } from './state/gates.ts';
import { laneOfCell } from './state/plan-index.ts';
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
      const lane = run.queue.lanes[laneOfCell(run.index, step, cell)]!;
      lane.limits.forEach((limit, i) => {
        used[limit]! += lane.amounts[i]!;
      });
    }
    check(open === run.openCells[step], `step ${step} has ${open} open cells, its counter says ${run.openCells[step]}`);
    checkGates(run, step);
  }
  check(
    counts.join() === run.counts.join(),
    `cells by state are ${counts.join()}, the counters say ${run.counts.join()}`,
  );
  checkQueue(run, { live, used });
}

function checkGates(run: RunState, step: number): void {
  for (let gate = 0; gate < gateCount(run, step); gate++) {
    const { first, end } = cellsBehind(run, step, gate);
    let open = 0;
    for (let cell = first; cell < end; cell++)
      if (run.cells.state[run.cellBase[step]! + cell]! < FIRST_TERMINAL) open++;
    const id = run.gateBase[step]! + gate;
    const phase = run.phase[id];
    check(
      (phase === PHASE.ended) === (open === 0),
      `gate ${gate} of step ${step} has ${open} open cells in phase ${phase}`,
    );
    check(
      phase !== PHASE.waiting || run.blockers[id]! > 0 || !run.started,
      `gate ${gate} of step ${step} waits for nothing`,
    );
  }
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
  const held = countHeld(run);
  check(
    queued + held === run.counts[CODE.ready],
    `${queued} cells are queued and ${held} wait for their item, ${run.counts[CODE.ready]} are ready`,
  );
}

function countHeld(run: RunState): number {
  let held = 0;
  for (let step = 0; step < run.index.stepCount; step++) {
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      const isReady = run.cells.state[run.cellBase[step]! + cell] === CODE.ready;
      const axis = isReady ? run.items?.blockedBy(step, cell) : undefined;
      if (axis === undefined) continue;
      held++;
      check(axis.used >= axis.size, `cell ${cell} of step ${step} waits for an item of ${axis.name}, and may begin`);
    }
  }
  return held;
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new Error(`the scheduler contradicts itself: ${message}`);
}
