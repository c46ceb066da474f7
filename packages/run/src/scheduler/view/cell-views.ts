import { CELL_STATES, type CellState } from '../model/cell-state.ts';
import type { Command } from '../model/command.ts';
import type { LiveCell } from '../model/live-cell.ts';
import { CODE, isLive, stateName } from '../model/state-code.ts';
import { cancelReason } from '../state/cancel-reason.ts';
import { cellsBehind, gateCell, gateCount, gateOf, hasEnded } from '../state/gates.ts';
import { PHASE, type RunState } from '../state/run-state.ts';
import { runStatus } from './run-status.ts';

/** See `Scheduler.resume`. */
export function openCommands(run: RunState): Command[] {
  const commands: Command[] = [];
  for (let step = 0; step < run.index.stepCount; step++) {
    for (let cell = 0; cell < gateCount(run, step); cell++) {
      const phase = run.phase[run.gateBase[step]! + cell];
      if (phase === PHASE.deciding) commands.push({ type: 'decide', step, ...gateCell(run, step, cell) });
      else if (phase === PHASE.approval) commands.push({ type: 'askApproval', step, ...gateCell(run, step, cell) });
      else if (phase === PHASE.open) {
        const { first, end } = cellsBehind(run, step, cell);
        for (let one = first; one < end; one++) addOpenCommands(run, { step, cell: one, commands });
      }
    }
  }
  if (run.wakeAt < Infinity) commands.push({ type: 'wake', at: run.wakeAt });
  if (run.finished) commands.push({ type: 'finish', status: runStatus(run) });
  return commands;
}

function addOpenCommands(
  run: RunState,
  { step, cell, commands }: { step: number; cell: number; commands: Command[] },
): void {
  const id = run.cellBase[step]! + cell;
  const attempt = run.cells.attempt[id]!;
  const state = run.cells.state[id]!;
  if (state === CODE.checking) commands.push({ type: 'lookUp', step, cell });
  else if (state === CODE.publishing) commands.push({ type: 'publish', step, cell, attempt });
  else if (state === CODE.submitting)
    commands.push({ type: 'submit', step, cell, attempt, escalationLevel: run.cells.escalationLevel[id]! });
  const reason = cancelReason(run, id);
  if (reason !== undefined && isLive(state)) commands.push({ type: 'cancel', step, cell, attempt, reason });
}

/** See `Scheduler.live`. */
export function liveCells(run: RunState): LiveCell[] {
  const live: LiveCell[] = [];
  for (let step = 0; step < run.index.stepCount; step++) {
    if (hasEnded(run, step)) continue;
    for (let cell = 0; cell < run.cellCount[step]!; cell++) {
      const id = run.cellBase[step]! + cell;
      const code = run.cells.state[id]!;
      if (isLive(code)) live.push({ step, cell, attempt: run.cells.attempt[id]!, state: stateName(code) });
    }
  }
  return live;
}

/** See `Scheduler.counts`. */
export function countStates(run: RunState): Readonly<Record<CellState, number>> {
  return Object.fromEntries(CELL_STATES.map((state, code) => [state, run.counts[code]!])) as Record<CellState, number>;
}

/** See `Scheduler.cellCount`. */
export function knownCells(run: RunState, step: number): number | undefined {
  if (isExpanded(run, step)) return run.expanded.get(step) ?? run.cellCount[step]!;
  return run.phase[gateOf(run, step, 0)]! < PHASE.approval ? undefined : run.cellCount[step]!;
}

/** See `Scheduler.isExpanded`. */
export function isExpanded(run: RunState, step: number): boolean {
  return run.plan.steps[step]!.cells !== undefined || run.expanded.has(step);
}
