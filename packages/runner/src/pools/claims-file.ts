import path from 'node:path';
import { z } from 'zod';
import type { Disk } from '../journal/disk.ts';

const claimSchema = z.object({
  runId: z.string(),
  /** Of the runner that took it: who takes a claim over writes it anew. */
  epoch: z.number(),
  /** Indexes, as in the run's journal. */
  step: z.number(),
  cell: z.number(),
  attempt: z.number(),
  stepName: z.string(),
  cellKey: z.string(),
  clusterID: z.string(),
  accountID: z.string(),
  containerID: z.string(),
  tokens: z.record(z.string(), z.number()),
});

/** The tokens that one attempt holds, and where its container would be: whether it still lives can always be asked. */
export type Claim = z.infer<typeof claimSchema>;

const fileSchema = z.object({ format: z.literal(1), claims: z.array(claimSchema) });

/** The claims of all runs of a home, oldest first. Nobody counts: what a pool has left follows from this list. */
export async function readClaims(disk: Disk, home: string): Promise<readonly Claim[]> {
  const bytes = await disk.read(claimsPath(home));
  return bytes ? fileSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8'))).claims : [];
}

/** Puts the list in place, durable and whole. Only under the home's lock `pools`. */
export async function writeClaims(disk: Disk, home: string, claims: readonly Claim[]): Promise<void> {
  await disk.replace(claimsPath(home), Buffer.from(JSON.stringify({ format: 1, claims })));
}

/** Whether two claims are of the same attempt, whoever drove it. */
export function isSameAttempt(a: AttemptPlace, b: AttemptPlace): boolean {
  return a.runId === b.runId && a.step === b.step && a.cell === b.cell && a.attempt === b.attempt;
}

type AttemptPlace = Pick<Claim, 'runId' | 'step' | 'cell' | 'attempt'>;

function claimsPath(home: string): string {
  return path.join(home, 'pools.json');
}
