import path from 'node:path';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import { withHomeLock } from '../journal/home-lock.ts';

const attemptSchema = z.object({
  runId: z.string(),
  /** Indexes, as in the run's journal. */
  step: z.number(),
  cell: z.number(),
  attempt: z.number(),
  tokens: z.record(z.string(), z.number()),
});

const claimSchema = attemptSchema.extend({
  /** Of the runner that took it: who takes a claim over writes it anew. */
  epoch: z.number(),
  stepName: z.string(),
  cellKey: z.string(),
  clusterID: z.string(),
  accountID: z.string(),
  containerID: z.string(),
});

/** The tokens that one attempt holds, and where its container would be: whether it still lives can always be asked. */
export type Claim = z.infer<typeof claimSchema>;

const waiterSchema = attemptSchema.extend({
  /** When it last asked: who asks no more waits no more. */
  askedAt: z.number(),
});

/** An attempt that waits for tokens. */
export type Waiter = z.infer<typeof waiterSchema>;

const listSchema = z.object({
  format: z.literal(2),
  claims: z.array(claimSchema),
  waiting: z.array(waiterSchema),
});

/**
 * Who holds tokens of a home's pools and who waits for them, of all its runs; both oldest first. Nobody counts: what a
 * pool has left follows from the list.
 */
export type ClaimsList = Omit<z.infer<typeof listSchema>, 'format'>;

export interface ClaimsPlace {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
}

/** Older versions of the list that are kept: for somebody who has read their names and not yet them. */
const KEPT = 16;

/** The list as it is now. */
export async function readClaims(place: Pick<ClaimsPlace, 'disk' | 'home'>): Promise<ClaimsList> {
  return (await readNewest(place)).list;
}

/**
 * Changes the list, durable and whole. Each version is a file of its own, which only one process can create: on whatever
 * host another one changes it at the same time, neither change is lost. The lock only keeps those of one host from
 * getting in each other's way. A change that gives back the list it was given writes nothing.
 */
export async function changeClaims<T>(
  place: ClaimsPlace,
  change: (list: ClaimsList) => { readonly list: ClaimsList; readonly answer: T },
): Promise<T> {
  return withHomeLock({ ...place, name: 'pools' }, async () => {
    for (;;) {
      const newest = await readNewest(place);
      const { list, answer } = change(newest.list);
      if (list === newest.list || (await writeNext(place, newest.version, list))) return answer;
    }
  });
}

/** Where the list lies: something in it changes with each change of the list. */
export function claimsDirectory(home: string): string {
  return path.join(home, 'pools');
}

/** Whether two entries are of the same attempt, whoever drove it. */
export function isSameAttempt(a: AttemptPlace, b: AttemptPlace): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell && a.attempt === b.attempt;
}

type AttemptPlace = Pick<Claim, 'runId' | 'step' | 'cell' | 'attempt'>;

interface Version {
  readonly version: number;
  readonly list: ClaimsList;
}

async function readNewest({ disk, home }: Pick<ClaimsPlace, 'disk' | 'home'>): Promise<Version> {
  for (;;) {
    const version = (await listVersions(disk, home)).at(-1);
    if (version === undefined) return { version: 0, list: { claims: [], waiting: [] } };
    const bytes = await disk.read(versionPath(home, version));
    // Gone already: there are newer ones.
    if (!bytes) continue;
    const { claims, waiting } = listSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return { version, list: { claims, waiting } };
  }
}

/** False: somebody else has written a version since the one that this is made from. */
async function writeNext({ disk, home }: ClaimsPlace, version: number, list: ClaimsList): Promise<boolean> {
  const next = version + 1;
  const bytes = Buffer.from(JSON.stringify({ format: 2, ...list }));
  if (!(await disk.create(versionPath(home, next), bytes))) return false;
  const versions = await listVersions(disk, home);
  // The name may be free because it was used and removed long ago, while this process slept.
  if (versions.at(-1) !== next) return false;
  for (const old of versions) if (old <= next - KEPT) await disk.remove(versionPath(home, old));
  return true;
}

async function listVersions(disk: Disk, home: string): Promise<number[]> {
  const names = await disk.list(claimsDirectory(home));
  return names.flatMap((name) => (/^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : [])).sort((a, b) => a - b);
}

function versionPath(home: string, version: number): string {
  return path.join(claimsDirectory(home), `${version}.json`);
}
