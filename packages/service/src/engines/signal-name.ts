import { constants } from 'node:os';

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** `SIGKILL` for 9; a real-time signal has no name of its own and is given by its number. */
export function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`;
}
