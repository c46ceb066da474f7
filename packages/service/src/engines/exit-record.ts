import { constants } from 'node:os';
import type { End } from './engine.ts';

/** How a container ended, as recorded by its first process. Times are in milliseconds since the epoch. */
export interface ExitRecord {
  readonly startedAt: number | undefined;
  readonly endedAt: number;
  readonly end: End;
}

/** Parses the line that every first process writes at the end. Throws for any other line. */
export function parseExitRecord(text: string): ExitRecord {
  const [kind, ...fields] = text.split(' ');
  if (kind === 'exited' && fields.length === 5) {
    const [exitCode, signal, outOfMemory, startedAt, endedAt] = fields.map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { startedAt, endedAt, end: exitedEnd({ exitCode, signal, outOfMemory: outOfMemory === 1 }) };
  }
  if (kind === 'asked' && fields.length === 3) {
    const [exitCode, startedAt, endedAt] = fields.map(Number) as [number, number, number];
    const reason = `the container was stopped from outside (exit code ${exitCode})`;
    return { startedAt, endedAt, end: { kind: 'fault', reason } };
  }
  if (kind === 'stopped' && fields.length === 2) {
    return { startedAt: Number(fields[0]), endedAt: Number(fields[1]), end: { kind: 'stopped' } };
  }
  if ((kind === 'rejected' || kind === 'fault') && fields.length > 1) {
    const reason = fields.slice(1).join(' ');
    return { startedAt: undefined, endedAt: Number(fields[0]), end: { kind, reason } };
  }
  throw new Error(`could not read the exit record '${text}'`);
}

function exitedEnd(from: { exitCode: number; signal: number; outOfMemory: boolean }): End {
  return {
    kind: 'exited',
    exitCode: from.exitCode,
    ...(from.signal > 0 && { signal: signalName(from.signal) }),
    ...(from.outOfMemory && { outOfMemory: true }),
  };
}

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** `SIGKILL` for 9. Real-time signals have no name and are rendered with their number. */
function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`;
}
