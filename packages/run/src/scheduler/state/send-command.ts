import type { Command } from '../model/command.ts';
import type { RunState } from './run-state.ts';

/** Appends a command to the result of the current event. */
export function sendCommand(run: RunState, command: Command): void {
  run.out.push(command);
}

/** From now on, commands are appended to `into`. */
export function collectCommands(run: RunState, into: Command[]): void {
  run.out = into;
}
