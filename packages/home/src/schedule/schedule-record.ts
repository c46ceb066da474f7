import path from 'node:path';
import { type RunSettings, runSettings } from '@sluice/run';
import { z } from 'zod';
import type { Disk } from '../journal/disk.ts';
import { parseStored } from '../journal/parse-stored.ts';

const recordSchema = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('start'),
    planned: z.number(),
    /** `backfill`: the user requested this time. Earlier times may then be undecided. */
    cause: z.enum(['time', 'backfill']),
    runId: z.string(),
  }),
  z.object({
    decision: z.literal('skip'),
    planned: z.number(),
    cause: z.enum(['time', 'backfill']),
    reason: z.string(),
  }),
]);
const watchedSchema = z.object({
  since: z.number(),
  /** When these times were first watched: before that, none was missed. Absent in older homes. */
  first: z.number().optional(),
  schedule: z.string(),
  file: z.string().optional(),
});
const pausedSchema = z.object({ at: z.number(), by: z.string() });

/** The decision about one planned time. */
export type ScheduleRecord = z.infer<typeof recordSchema>;
/** A planned time whose run is to be executed. */
export type StartRecord = Extract<ScheduleRecord, { decision: 'start' }>;

/** A record that a schedule still has to look at. `isOpen`: its run may not have ended, and `settle` was not called. */
export type CurrentRecord = ScheduleRecord & { readonly isOpen: boolean };

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
  /** Undefined: no command has recorded any. */
  readSettings(): Promise<RunSettings | undefined>;
  /** Durable when it resolves. */
  writeSettings(settings: RunSettings): Promise<void>;
  read(planned: number): Promise<ScheduleRecord | undefined>;
  /** The newest thousand, and older ones whose run may not have ended, in order of time. */
  listCurrent(): Promise<CurrentRecord[]>;
  /** Those from one planned time to another, both included, in order of time. */
  listBetween(from: number, to: number): Promise<ScheduleRecord[]>;
  /** Durable when it resolves. False: this time is already decided, perhaps by another process. */
  create(record: ScheduleRecord): Promise<boolean>;
  replace(record: ScheduleRecord): Promise<void>;
  /** The run of this planned time has ended, or will never start: `listCurrent` may leave the record out. */
  settle(planned: number): Promise<void>;
}

/** Older records that are still needed have a file in `OPEN`. */
const NEWEST = 1000;
/**
 * The directory with an empty file for each planned time whose run may not have ended. A backfill, or a run that lasts
 * while a thousand later times are skipped, is older than the newest records.
 */
const OPEN = 'open';
const TIME_ADVICE = 'move it away to have its time decided again';
const SETTINGS_ADVICE = 'move it away, and record the parameters again with `sluice schedule run`';
const FILE = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.json$/;

/** The records of the schedule `name` in a home. Creates the directory with the first write. */
export function openScheduleRecords(disk: Disk, place: { home: string; name: string }): ScheduleRecords {
  const directory = path.join(place.home, 'schedules', place.name);
  const watchedFile = path.join(directory, 'watched.json');
  const pausedFile = path.join(directory, 'paused.json');
  const settingsFile = path.join(directory, 'settings.json');
  const fileOf = (planned: number) => path.join(directory, recordName(planned));
  const openFileOf = (planned: number) => path.join(directory, OPEN, recordName(planned));

  async function readFile<T>(file: string, schema: z.ZodType<T>, advice = TIME_ADVICE): Promise<T | undefined> {
    const bytes = await disk.read(file);
    return bytes && parseStored(bytes, { file, schema, advice });
  }
  const listNames = async (place: string) => (await disk.list(place)).filter((name) => FILE.test(name));

  async function readRecords(names: readonly string[]): Promise<ScheduleRecord[]> {
    const records = await Promise.all(names.map((name) => readFile(path.join(directory, name), recordSchema)));
    return records.filter((record) => record !== undefined);
  }

  /** Before the record: a crash in between leaves a file without a record, which means nothing. */
  async function markOpen({ decision, planned }: ScheduleRecord): Promise<void> {
    if (decision === 'start') await disk.create(openFileOf(planned), new Uint8Array());
  }

  return {
    readWatched: () => readFile(watchedFile, watchedSchema),
    writeWatched: (watched) => disk.replace(watchedFile, encode(watched)),
    readPaused: () => readFile(pausedFile, pausedSchema),
    writePaused: (paused) => disk.replace(pausedFile, encode(paused)),
    removePaused: () => disk.remove(pausedFile),
    readSettings: () => readFile(settingsFile, runSettings, SETTINGS_ADVICE),
    writeSettings: (settings) => disk.replace(settingsFile, encode(settings)),
    read: (planned) => readFile(fileOf(planned), recordSchema),
    async listCurrent() {
      const [open, all] = await Promise.all([listNames(path.join(directory, OPEN)), listNames(directory)]);
      const records = await readRecords([...new Set([...open, ...all.slice(-NEWEST)])].sort());
      return records.map((record) => ({ ...record, isOpen: open.includes(recordName(record.planned)) }));
    },
    async listBetween(from, to) {
      const names = await listNames(directory);
      return readRecords(names.filter((name) => recordName(from) <= name && name <= recordName(to)));
    },
    async create(record) {
      if ((await disk.read(fileOf(record.planned))) !== undefined) return false;
      await markOpen(record);
      return disk.create(fileOf(record.planned), encode(record));
    },
    async replace(record) {
      await markOpen(record);
      await disk.replace(fileOf(record.planned), encode(record));
    },
    settle: (planned) => disk.remove(openFileOf(planned)),
  };
}

/** The runs that the schedules of a home may still start, according to their records. */
export async function listScheduledRuns(disk: Disk, home: string): Promise<ReadonlySet<string>> {
  const names = await disk.list(path.join(home, 'schedules'));
  const records = await Promise.all(names.map((name) => openScheduleRecords(disk, { home, name }).listCurrent()));
  return new Set(records.flat().flatMap((record) => (record.decision === 'start' ? [record.runId] : [])));
}

function recordName(planned: number): string {
  return `${new Date(planned).toISOString().slice(0, 19).replaceAll(':', '-')}Z.json`;
}

function encode(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
