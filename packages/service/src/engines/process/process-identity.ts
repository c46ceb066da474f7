import { readFile } from 'node:fs/promises';

/** Identifies a process permanently: a PID can be reused, but not together with its start time within one boot. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot. */
  readonly startTicks: string;
}

/** Whether exactly this process is alive; a zombie is not. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const stat = await readFile(`/proc/${identity.pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return false;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[19] === identity.startTicks && fields[0] !== 'Z' && fields[0] !== 'X';
}
