import { readFile } from 'node:fs/promises';

/** A process for ever: its number is given again, its start time within one boot is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks from boot to its start. */
  readonly startTicks: string;
}

/** Whether exactly this process is there; one that has ended and waits for its parent is not. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  const stat = await readFile(`/proc/${identity.pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return false;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[19] === identity.startTicks && fields[0] !== 'Z' && fields[0] !== 'X';
}
