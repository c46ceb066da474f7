import path from 'node:path';
import { z } from 'zod';
import type { Disk } from './disk.ts';
import { parseStored } from './parse-stored.ts';
import { createSystemDisk } from './system-disk.ts';

const schema = z.object({
  /** Address, cluster and account of the server. */
  service: z.string(),
  cluster: z.string(),
  account: z.string(),
  /** The profile with which the user connects to it. */
  profile: z.string().exactOptional(),
  /** The run in the server's dashboard. */
  runUrl: z.string().exactOptional(),
  /**
   * `handing-over`: it is unknown whether the server has started the run. `hosted`: it has. `released`: it never will
   * again, until it is handed over again. `taken-back`: of a copy: the home that had handed the run over executes it.
   */
  state: z.enum(['handing-over', 'hosted', 'released', 'taken-back']),
  /** Whether this home has handed the run over. Only such a run can be taken back. */
  isOurs: z.boolean(),
});

/**
 * The file `server.json` of a run that a server executes, or has executed. It is written before the first request that
 * could start the run there, and no process executes the run here unless its state is `released`.
 */
export type ServerMark = z.infer<typeof schema>;

const ADVICE =
  'it says which server executes the run; restore it, or, if no server does, move it away to resume the run here';

/** The mark in a run's directory; undefined if there is none. Throws if it is damaged: then the run must not be executed. */
export async function readServerMark(
  directory: string,
  disk: Disk = createSystemDisk(),
): Promise<ServerMark | undefined> {
  const file = markPath(directory);
  const bytes = await disk.read(file);
  return bytes && parseStored(bytes, { file, schema, advice: ADVICE });
}

/** Replaces the mark, durably; undefined removes it. */
export async function writeServerMark(
  directory: string,
  mark: ServerMark | undefined,
  disk: Disk = createSystemDisk(),
): Promise<void> {
  if (mark === undefined) await disk.remove(markPath(directory));
  else await disk.replace(markPath(directory), Buffer.from(`${JSON.stringify(mark)}\n`));
}

/** Why no process of this home may execute the run; undefined if one may. */
export function describeServer(mark: ServerMark | undefined): string | undefined {
  if (mark === undefined || mark.state === 'released') return undefined;
  if (mark.state === 'taken-back') return `the home that had handed it over to ${mark.service} has taken it back`;
  return mark.state === 'hosted'
    ? `the server ${mark.service} executes it`
    : `it is being handed over to the server ${mark.service}`;
}

/** Whether a server executes the run, or has executed it to its end. */
export async function isHostedByServer(directory: string, disk: Disk = createSystemDisk()): Promise<boolean> {
  return (await readServerMark(directory, disk).catch(() => undefined))?.state === 'hosted';
}

function markPath(directory: string): string {
  return path.join(directory, 'server.json');
}
