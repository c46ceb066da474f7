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
  /** `ordering`: it is unknown whether the server has accepted the order. `hosted`: it has. */
  state: z.enum(['ordering', 'hosted']),
  /** Whether this home has ordered the run: then its outputs with `publish` are copied here. */
  isOurs: z.boolean(),
});

/**
 * The file `server.json` of a run that a server executes, or has executed. It is written before the request that starts the
 * run there, and no process executes the run here.
 */
export type ServerMark = z.infer<typeof schema>;

const ADVICE = 'it says which server executes the run; restore it';

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
  if (mark === undefined) return undefined;
  return mark.state === 'hosted'
    ? `the server ${mark.service} executes it`
    : `it is being ordered from the server ${mark.service}`;
}

/** Whether a server executes the run, or has executed it to its end. */
export async function isHostedByServer(directory: string, disk: Disk = createSystemDisk()): Promise<boolean> {
  return (await readServerMark(directory, disk).catch(() => undefined))?.state === 'hosted';
}

function markPath(directory: string): string {
  return path.join(directory, 'server.json');
}
