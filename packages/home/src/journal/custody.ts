import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { fail, ok, type Result } from '@sluice/core';
import { z } from 'zod';
import type { Disk } from './disk.ts';
import { type CustodyMove, nextState } from './legal-moves.ts';
import { parseStored } from './parse-stored.ts';

const serverPlace = z.strictObject({
  /** Address, cluster and account of the server. */
  service: z.string(),
  cluster: z.string(),
  account: z.string(),
  /** The profile with which the user connects to it. */
  profile: z.string().exactOptional(),
  /** The run in the server's dashboard. */
  runUrl: z.string().exactOptional(),
  /**
   * Of a run that this home has ordered: the absolute directories, by the output, of this machine. No other one is written for
   * the run, whatever its server says.
   */
  publish: z.record(z.string().max(256), z.string().max(4_096)).exactOptional(),
});

/** Where a run is that a server executes. */
export type ServerPlace = z.infer<typeof serverPlace>;

const hostOptions = z.record(z.string(), z.union([z.string(), z.number()]));

const schema = z.discriminatedUnion('state', [
  z.strictObject({ state: z.literal('host'), options: hostOptions }),
  z.strictObject({ state: z.literal('ordering'), place: serverPlace }),
  z.strictObject({ state: z.literal('server'), place: serverPlace }),
  z.strictObject({ state: z.literal('collecting') }),
  z.strictObject({ state: z.literal('collectingCopy'), place: serverPlace }),
]);

/**
 * Who may execute a run of a home, as its file `custody.json` says; without the file, the run is free. `options` of a run of
 * the host are those with which its service is opened.
 */
export type Custody = z.infer<typeof schema> | { readonly state: 'free' };

/** The directory of a run, and its disk. */
export interface CustodyPlace {
  readonly disk: Disk;
  readonly directory: string;
}

const FREE: Custody = { state: 'free' };
const ADVICE =
  'it says who may execute the run; restore it, or, if no server executes the run, move it away to resume the run here';

/** Throws if the file is damaged: then no process may execute the run. */
export async function readCustody({ disk, directory }: CustodyPlace): Promise<Custody> {
  const bytes = await disk.read(custodyPath(directory));
  return bytes ? parse(bytes, directory) : FREE;
}

/** As `readCustody`, but synchronous. */
export function readCustodyNow({ disk, directory }: CustodyPlace): Custody {
  const bytes = disk.readNow(custodyPath(directory));
  return bytes ? parse(bytes, directory) : FREE;
}

/** What a move needs besides the run. */
interface MoveDetails {
  /** Of `detach`. */
  readonly options?: Readonly<Record<string, string | number>>;
  /** Of `order`, `accept` and `copy`; default: the present one. */
  readonly place?: ServerPlace;
}

/**
 * Changes who may execute a run, durably and with one file operation. Returns who might before. The error says that the move
 * is illegal, and nothing has changed. Of several processes that move a free run at the same time, one does, and the others
 * move the run as it is then.
 */
export async function moveCustody(
  place: CustodyPlace,
  move: CustodyMove,
  details: MoveDetails = {},
): Promise<Result<Custody, string>> {
  const file = custodyPath(place.directory);
  for (;;) {
    const before = await readCustody(place);
    const next = nextState(move, before.state);
    if (next === undefined) return fail(describeCustody(before) ?? DESCRIBED[before.state as keyof typeof DESCRIBED]);
    const after = createCustody(next, before, details);
    if (isDeepStrictEqual(after, before)) return ok(before);
    const bytes = Buffer.from(`${JSON.stringify(after)}\n`);
    if (before.state === 'free') {
      if (await place.disk.create(file, bytes)) return ok(before);
      continue;
    }
    if (after.state === 'free') await place.disk.remove(file);
    else await place.disk.replace(file, bytes);
    return ok(before);
  }
}

/** Why a move of a run is illegal that a process of this home may execute. */
const DESCRIBED = { free: 'no process has it', host: 'the process that hosts the runs of the home has it' } as const;

/** The custody of a run that a server is about to add, for the file of a directory that no other process knows. */
export function encodeHosted(): Uint8Array {
  return Buffer.from(`${JSON.stringify({ state: 'host', options: {} } satisfies Custody)}\n`);
}

function createCustody(state: Custody['state'], before: Custody, { options = {}, place }: MoveDetails): Custody {
  if (state === 'free' || state === 'collecting') return { state };
  if (state === 'host') return { state, options };
  return { state, place: place ?? placeOf(before)! };
}

/** The server of a run; undefined if the home has it. */
export function placeOf(custody: Custody): ServerPlace | undefined {
  return 'place' in custody ? custody.place : undefined;
}

/** Why no process of this home may execute the run; undefined if one may. */
export function describeCustody(custody: Custody): string | undefined {
  switch (custody.state) {
    case 'free':
    case 'host':
      return undefined;
    case 'ordering':
      return `it is being ordered from the server ${custody.place.service}`;
    case 'server':
      return `the server ${custody.place.service} executes it`;
    case 'collecting':
    case 'collectingCopy':
      return 'a garbage collection is removing it';
  }
}

/** The name of the file in a run's directory. */
export const CUSTODY_FILE = 'custody.json';

function custodyPath(directory: string): string {
  return path.join(directory, CUSTODY_FILE);
}

function parse(bytes: Uint8Array, directory: string): Custody {
  return parseStored(bytes, { file: custodyPath(directory), schema, advice: ADVICE });
}

/** Whether a garbage collection is removing the run. */
export function isCollecting({ state }: Custody): boolean {
  return state === 'collecting' || state === 'collectingCopy';
}

/** Whether a server executes the run, or has executed it to its end. A damaged file does not say so. */
export async function isOnServer(place: CustodyPlace): Promise<boolean> {
  return (await readCustody(place).catch(() => FREE)).state === 'server';
}
