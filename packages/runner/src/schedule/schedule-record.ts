import path from 'node:path';
import { z } from 'zod';
import type { Disk } from '../journal/disk.ts';

const recordSchema = z.discriminatedUnion('verdict', [
  z.object({
    verdict: z.literal('start'),
    planned: z.number(),
    /** `backfill`: the user requested this time. Earlier times may then be undecided. */
    cause: z.enum(['time', 'backfill']),
    runId: z.string(),
  }),
  z.object({
    verdict: z.literal('skip'),
    planned: z.number(),
    cause: z.enum(['time', 'backfill']),
    reason: z.string(),
  }),
]);
const watchedSchema = z.object({ since: z.number(), schedule: z.string(), file: z.string().optional() });
const pausedSchema = z.object({ at: z.number(), by: z.string() });

/** The decision about one planned time. */
export type ScheduleRecord = z.infer<typeof recordSchema>;
/** A planned time whose run is to be executed. */
export type StartRecord = Extract<ScheduleRecord, { verdict: 'start' }>;

/** Since when a schedule is watched, and with which times. Earlier planned times are not caught up. */
export type Watched = z.infer<typeof watchedSchema>;

/** When the schedule was paused and by which user. */
export type Paused = z.infer<typeof pausedSchema>;

/** The decisions of one schedule, one file for each planned time. Its name is the time, so it can be created only once. */
export interface ScheduleRecords {
  readWatched(): Promise<Watched | undefined>;
  writeWatched(watched: Watched): Promise<void>;
  /** Undefined: the schedule is not paused. */
  readPaused(): Promise<Paused | undefined>;
  /** Durable when it resolves. */
  writePaused(paused: Paused): Promise<void>;
  removePaused(): Promise<void>;
  read(planned: number): Promise<ScheduleRecord | undefined>;
  /** The newest thousand, in order of time. */
  listNewest(): Promise<ScheduleRecord[]>;
  /** Those from one planned time to another, both included, in order of time. */
  listBetween(from: number, to: number): Promise<ScheduleRecord[]>;
  /** Durable when it resolves. False: this time is already decided, perhaps by another process. */
  create(record: ScheduleRecord): Promise<boolean>;
  replace(record: ScheduleRecord): Promise<void>;
}

/** Older runs have ended, or belong to a backfill, which keeps track of them itself. */
const NEWEST = 1000;
const FILE = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.json$/;

/** The records of the schedule `name` in a home. Creates the directory with the first write. */
export function openScheduleRecords(disk: Disk, place: { home: string; name: string }): ScheduleRecords {
  const directory = path.join(place.home, 'schedules', place.name);
  const watchedFile = path.join(directory, 'watched.json');
  const pausedFile = path.join(directory, 'paused.json');
  const fileOf = (planned: number) => path.join(directory, recordName(planned));

  async function readFile<T>(file: string, schema: z.ZodType<T>): Promise<T | undefined> {
    const bytes = await disk.read(file);
    if (bytes === undefined) return undefined;
    try {
      return schema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    } catch (error) {
      throw new Error(`could not read ${file}: it is damaged; move it away to have its time decided again`, {
        cause: error,
      });
    }
  }

  async function readRecords(choose: (names: readonly string[]) => readonly string[]): Promise<ScheduleRecord[]> {
    const names = choose((await disk.list(directory)).filter((name) => FILE.test(name)));
    const records = await Promise.all(names.map((name) => readFile(path.join(directory, name), recordSchema)));
    return records.filter((record) => record !== undefined);
  }

  return {
    readWatched: () => readFile(watchedFile, watchedSchema),
    writeWatched: (watched) => disk.replace(watchedFile, encode(watched)),
    readPaused: () => readFile(pausedFile, pausedSchema),
    writePaused: (paused) => disk.replace(pausedFile, encode(paused)),
    removePaused: () => disk.remove(pausedFile),
    read: (planned) => readFile(fileOf(planned), recordSchema),
    listNewest: () => readRecords((names) => names.slice(-NEWEST)),
    listBetween: (from, to) =>
      readRecords((names) => names.filter((name) => recordName(from) <= name && name <= recordName(to))),
    create: (record) => disk.create(fileOf(record.planned), encode(record)),
    replace: (record) => disk.replace(fileOf(record.planned), encode(record)),
  };
}

/** The runs that the schedules of a home may still start, according to their records. */
export async function listScheduledRuns(disk: Disk, home: string): Promise<ReadonlySet<string>> {
  const names = await disk.list(path.join(home, 'schedules'));
  const records = await Promise.all(names.map((name) => openScheduleRecords(disk, { home, name }).listNewest()));
  return new Set(records.flat().flatMap((record) => (record.verdict === 'start' ? [record.runId] : [])));
}

function recordName(planned: number): string {
  return `${new Date(planned).toISOString().slice(0, 19).replaceAll(':', '-')}Z.json`;
}

function encode(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
