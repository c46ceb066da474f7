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

const FILE: VersionedFile<z.infer<typeof listSchema>> = {
  name: 'pools',
  schema: listSchema,
  first: async () => ({ format: 2, claims: [], waiting: [] }),
};

/** The list as it is now. */
export async function readClaims(place: Pick<HomePlace, 'disk' | 'home'>): Promise<ClaimsList> {
  const { claims, waiting } = await readVersioned(FILE, place);
  return { claims, waiting };
}

/** Changes the list, durable and whole. A change that gives back the list it was given writes nothing. */
export async function changeClaims<T>(
  place: HomePlace,
  change: (list: ClaimsList) => { readonly list: ClaimsList; readonly answer: T },
): Promise<T> {
  return changeVersioned(FILE, place, (content) => {
    const { list, answer } = change(content);
    if (list === content) return { content, answer };
    return { content: { format: 2 as const, claims: list.claims, waiting: list.waiting }, answer };
  });
}

/** Where the list lies: something in it changes with each change of the list. */
export function claimsDirectory(home: string): string {
  return versionsDirectory(FILE, home);
}

/** Whether two entries are of the same attempt, whoever drove it. */
export function isSameAttempt(a: AttemptPlace, b: AttemptPlace): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell && a.attempt === b.attempt;
}

type AttemptPlace = Pick<Claim, 'runId' | 'step' | 'cell' | 'attempt'>;
