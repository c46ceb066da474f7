import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { volumeServiceSchema } from '@sluice/client';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Disk } from '../journal/disk.ts';
import { withHomeLock } from '../journal/home-lock.ts';

const credentialsSchema = z.object({
  format: z.literal(1),
  /** Random: keeps the volumes of two homes apart that use one account. */
  homeId: z.string(),
  /** By cluster, account and pipeline. */
  workspaces: z.record(
    z.string(),
    z.object({
      volumeID: z.string(),
      /** Volumes tried so far: the next one gets the next number. */
      tries: z.number(),
      /** Undefined while the reply that has it is awaited; it is given once only. */
      login: volumeServiceSchema.optional(),
    }),
  ),
});

/** Logins of the volumes that this home has made. The only secrets that a home keeps; readable by its owner only. */
export type Credentials = z.infer<typeof credentialsSchema>;

export interface HomePlace {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
}

export async function readCredentials({ disk, home }: HomePlace): Promise<Credentials> {
  const bytes = await disk.read(credentialsPath(home));
  if (!bytes) return { format: 1, homeId: randomBytes(8).toString('hex'), workspaces: {} };
  return credentialsSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
}

/** Changes the credentials while nobody else in this home can. Durable when it resolves. */
export async function updateCredentials<T>(place: HomePlace, change: (credentials: Credentials) => T): Promise<T> {
  return withHomeLock({ ...place, name: 'credentials' }, async () => {
    const credentials = await readCredentials(place);
    const result = change(credentials);
    const bytes = Buffer.from(`${JSON.stringify(credentials, null, 2)}\n`);
    await place.disk.replace(credentialsPath(place.home), bytes);
    return result;
  });
}

function credentialsPath(home: string): string {
  return path.join(home, 'credentials.json');
}
