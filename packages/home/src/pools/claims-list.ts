import { z } from 'zod';
import {
  changeVersioned,
  type HomePlace,
  readVersioned,
  type VersionedFile,
  versionsDirectory,
} from '../journal/versioned-file.ts';

const attemptSchema = z.object({
  runId: z.string(),
  /** Indexes, as in the run's journal. */
  step: z.number(),
  cell: z.number(),
  attempt: z.number(),
  tokens: z.record(z.string(), z.number()),
});

const claimSchema = attemptSchema.extend({
  /** Epoch of the runner that acquired it: a runner that resumes the run rewrites the claim under its own epoch. */
  epoch: z.number(),
  stepName: z.string(),
  cellKey: z.string(),
  clusterID: z.string(),
  accountID: z.string(),
  containerID: z.string(),
});

/** The slots that one attempt holds, and the location of its container, so that its state can always be requested. */
export type PoolClaim = WithSlots<z.infer<typeof claimSchema>>;

const waiterSchema = attemptSchema.extend({
  /** When the attempt last requested slots: an entry that is not renewed expires. */
  askedAt: z.number(),
});

/** An attempt that waits for slots. */
export type Waiter = WithSlots<z.infer<typeof waiterSchema>>;

/** An entry in memory: the file calls the slots `tokens`. */
type WithSlots<T extends { tokens: unknown }> = Omit<T, 'tokens'> & { readonly slots: T['tokens'] };

const listSchema = z.object({
  format: z.literal(2),
  claims: z.array(claimSchema),
  waiting: z.array(waiterSchema),
});

/**
 * Which attempts of all runs hold slots of a home's pools, and which wait for them; both oldest first. There are no
 * counters: the free slots of a pool follow from the list.
 */
export interface ClaimsList {
  readonly claims: readonly PoolClaim[];
  readonly waiting: readonly Waiter[];
}

const FILE: VersionedFile<z.infer<typeof listSchema>> = {
  name: 'pools',
  schema: listSchema,
  first: { format: 2, claims: [], waiting: [] },
};

/** Reads the current list. It may be changed by other processes at any time. */
export async function readClaims(place: Pick<HomePlace, 'disk' | 'home'>): Promise<ClaimsList> {
  return fromFile(await readVersioned(FILE, place));
}

/** Replaces the list durably and atomically. If `change` returns the list that it received, nothing is written. */
export async function changeClaims<T>(
  place: HomePlace,
  change: (list: ClaimsList) => { readonly list: ClaimsList; readonly answer: T },
): Promise<T> {
  return changeVersioned(FILE, place, (content) => {
    const before = fromFile(content);
    const { list, answer } = change(before);
    return { content: list === before ? content : toFile(list), answer };
  });
}

function fromFile({ claims, waiting }: z.infer<typeof listSchema>): ClaimsList {
  const rename = <T extends { tokens: unknown }>({ tokens, ...entry }: T) => ({
    ...entry,
    slots: tokens as T['tokens'],
  });
  return { claims: claims.map(rename), waiting: waiting.map(rename) };
}

function toFile({ claims, waiting }: ClaimsList): z.infer<typeof listSchema> {
  const rename = <T extends { slots: unknown }>({ slots, ...entry }: T) => ({ ...entry, tokens: slots as T['slots'] });
  return { format: 2, claims: claims.map(rename), waiting: waiting.map(rename) };
}

/** The directory that stores the list: each change of the list changes something in it. */
export function claimsDirectory(home: string): string {
  return versionsDirectory(FILE, home);
}

/** Whether two entries belong to the same attempt, even if different runners wrote them. */
export function isSameAttempt(a: AttemptPlace, b: AttemptPlace): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell && a.attempt === b.attempt;
}

type AttemptPlace = Pick<PoolClaim, 'runId' | 'step' | 'cell' | 'attempt'>;

/** The entry of an attempt that requests the slots of the claim at this time. */
export function waiterOf({ runId, step, cell, attempt, slots }: PoolClaim, askedAt: number): Waiter {
  return { runId, step, cell, attempt, slots, askedAt };
}
