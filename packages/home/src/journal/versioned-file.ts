import path from 'node:path';
import type { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Disk } from './disk.ts';
import { withHomeLock } from './home-lock.ts';
import { parseStored } from './parse-stored.ts';

/** A home with the disk and the clock for accessing it. */
export interface HomePlace {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly home: string;
}

/** A small document of the home that several processes change. Each version is a separate file. */
export interface VersionedFile<T> {
  /** Name of its directory in the home, and of its lock. */
  readonly name: string;
  readonly schema: z.ZodType<T>;
  /** Its content before the first version. */
  readonly first: T;
}

/** Older versions that are kept for readers that have listed the names and not yet read the files. */
const KEPT = 16;

const ADVICE = 'end all commands of the home, then move the file away; the version before it counts again';

/** The content of the newest version. */
export async function readVersioned<T>(file: VersionedFile<T>, place: Pick<HomePlace, 'disk' | 'home'>): Promise<T> {
  return (await readNewest(file, place)).content;
}

/**
 * Changes the document durably and atomically, and returns the `answer` of `change`. Only one process can create a
 * version: of concurrent changes on any hosts, none is lost. The lock only saves the processes of one host repeated
 * attempts. `change` may be called several times; if it returns the content it received, nothing is written.
 */
export async function changeVersioned<T, A>(
  file: VersionedFile<T>,
  place: HomePlace,
  change: (content: T) => { readonly content: T; readonly answer: A },
): Promise<A> {
  return withHomeLock({ ...place, name: file.name, isLocal: true }, async () => {
    for (;;) {
      const newest = await readNewest(file, place);
      const { content, answer } = change(newest.content);
      if (content === newest.content || (await writeNext(file, place, { version: newest.version, content }))) {
        return answer;
      }
    }
  });
}

/** The directory of the versions, for watching: each change of the document changes it. */
export function versionsDirectory(file: Pick<VersionedFile<unknown>, 'name'>, home: string): string {
  return path.join(home, file.name);
}

interface Version<T> {
  readonly version: number;
  readonly content: T;
}

async function readNewest<T>(file: VersionedFile<T>, place: Pick<HomePlace, 'disk' | 'home'>): Promise<Version<T>> {
  for (;;) {
    const version = (await listVersions(file, place)).at(-1);
    if (version === undefined) return { version: 0, content: file.first };
    const name = versionPath(file, place.home, version);
    const bytes = await place.disk.read(name);
    // Already removed: there are newer ones.
    if (!bytes) continue;
    return { version, content: parseStored(bytes, { file: name, schema: file.schema, advice: ADVICE }) };
  }
}

/** False: another process has written a newer version in the meantime. */
async function writeNext<T>(
  file: VersionedFile<T>,
  { disk, home }: HomePlace,
  { version, content }: Version<T>,
): Promise<boolean> {
  const next = version + 1;
  if (!(await disk.create(versionPath(file, home, next), Buffer.from(JSON.stringify(content))))) return false;
  const versions = await listVersions(file, { disk, home });
  // The name may be free because, while this process was suspended, the version was written and removed again.
  if (versions.at(-1) !== next) return false;
  for (const old of versions) if (old <= next - KEPT) await disk.remove(versionPath(file, home, old));
  return true;
}

async function listVersions<T>(
  file: VersionedFile<T>,
  { disk, home }: Pick<HomePlace, 'disk' | 'home'>,
): Promise<number[]> {
  const names = await disk.list(versionsDirectory(file, home));
  return names.flatMap((name) => (/^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : [])).sort((a, b) => a - b);
}

function versionPath(file: Pick<VersionedFile<unknown>, 'name'>, home: string, version: number): string {
  return path.join(versionsDirectory(file, home), `${version}.json`);
}
