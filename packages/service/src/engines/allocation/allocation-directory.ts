import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import type { Launch } from '../engine.ts';
import { agentSettingsSchema } from './agent-settings.ts';
import { Allocation } from './allocation.ts';
import { ORDERS, REPORTS, SETTINGS } from './allocation-files.ts';
import { tailSpool } from './spool-file.ts';
import {
  type EndedObservation,
  endedSchema,
  type LaunchOrder,
  parseOrder,
  type Report,
  type RunningObservation,
} from './spool-lines.ts';

const RECORD = /^(allocation-[a-z0-9-]{1,80})\.json$/;

const recordSchema = z.strictObject({
  accountID: z.string(),
  clusterID: z.string(),
  /** Of the instance type, as in `Launch`. */
  options: z.record(z.string(), z.unknown()),
  settings: agentSettingsSchema,
});
/** What the service knows of an allocation. It is beside its directory, which belongs to the user of the account. */
export type AllocationRecord = z.infer<typeof recordSchema>;

const outcomesSchema = z.array(z.tuple([z.string(), endedSchema]));
/** How containers have ended, by their keys. */
export type Outcomes = Map<string, EndedObservation>;

/** A container that was ordered, and what its agent has reported. */
export interface LoadedContainer {
  readonly order: LaunchOrder;
  isStopped: boolean;
  running?: RunningObservation;
  ended?: EndedObservation;
}

/** What the storage has of an allocation that is not ended. */
export interface LoadedAllocation {
  readonly record: AllocationRecord;
  readonly allocation: Allocation;
  /** By key. Those that came back are not among them. */
  readonly containers: ReadonlyMap<string, LoadedContainer>;
}

/** The allocations of one cluster on its storage. */
export interface AllocationDirectory {
  /** Makes an allocation, with all that its agent needs. Nothing is submitted. */
  make(key: string, record: AllocationRecord): Promise<Allocation>;
  /** All that were made. What is left of one whose making was interrupted is removed. */
  load(): Promise<{ live: LoadedAllocation[]; over: ReadonlyMap<string, Outcomes> }>;
  /** Keeps how the containers of an allocation have ended that has ended, instead of its orders, which may have secrets. */
  keepOutcomes(key: string, outcomes: Outcomes): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Reads and writes nothing yet. */
export function openAllocationDirectory(directory: string): AllocationDirectory {
  const place = (key: string) => join(directory, key);
  const recordOf = (key: string) => `${place(key)}.json`;
  const outcomesOf = (key: string) => `${place(key)}.outcomes`;
  const remove = async (key: string) => {
    // The record last: without it, nothing would say what the others are.
    for (const path of [place(key), outcomesOf(key), recordOf(key)]) await rm(path, { recursive: true, force: true });
  };
  return {
    remove,
    async make(key, record) {
      await mkdir(directory, { recursive: true, mode: 0o711 });
      await put(recordOf(key), JSON.stringify(record));
      await mkdir(place(key), { mode: 0o700 });
      const contents = { [ORDERS]: '', [REPORTS]: '', [SETTINGS]: JSON.stringify(record.settings) };
      for (const [name, text] of Object.entries(contents))
        await writeFile(join(place(key), name), text, { mode: 0o600 });
      return new Allocation(jobOf(key, place(key), record), record.settings);
    },
    async load() {
      const live: LoadedAllocation[] = [];
      const over = new Map<string, Outcomes>();
      const names = await readdir(directory).catch((error: unknown): string[] => {
        if (isSystemError(error, 'ENOENT')) return [];
        throw error;
      });
      for (const key of names.flatMap((name) => RECORD.exec(name)?.[1] ?? [])) {
        const record = await readJSON(recordOf(key), recordSchema);
        const outcomes = await readJSON(outcomesOf(key), outcomesSchema);
        if (record === undefined) continue;
        if (outcomes !== undefined) over.set(key, new Map(outcomes));
        else if (names.includes(key)) live.push(await load(jobOf(key, place(key), record), record));
        else await remove(key);
      }
      return { live, over };
    },
    async keepOutcomes(key, outcomes) {
      await put(outcomesOf(key), JSON.stringify([...outcomes]));
      await rm(place(key), { recursive: true, force: true });
    },
  };
}

async function load(job: Launch, record: AllocationRecord): Promise<LoadedAllocation> {
  const allocation = new Allocation(job, record.settings);
  const containers = new Map<string, LoadedContainer>();
  const orders = tailSpool(join(job.directory, ORDERS));
  for (let lines = await orders.read(); lines.length > 0; lines = await orders.read()) {
    for (const order of lines.map(parseOrder)) {
      if (order?.type === 'launch') {
        containers.set(order.launch.key, { order, isStopped: false });
        allocation.assign(order.launch);
      }
      const stopped = order?.type === 'stop' ? containers.get(order.key) : undefined;
      if (stopped !== undefined) stopped.isStopped = true;
      if (order?.type === 'end') allocation.leaving = 'the service has ended it';
    }
  }
  for (let reports = await allocation.readReports(); reports.length > 0; reports = await allocation.readReports())
    for (const report of reports) note(report, { containers, allocation });
  return { record, allocation, containers };
}

function note(
  report: Report,
  { containers, allocation }: { containers: Map<string, LoadedContainer>; allocation: Allocation },
): void {
  if (report.type === 'returned' && containers.delete(report.key)) allocation.release(report.key);
  const container = report.type === 'seen' ? containers.get(report.key) : undefined;
  if (report.type !== 'seen' || container === undefined) return;
  const { key, observation } = report;
  if (observation.type === 'running') container.running = observation;
  if (observation.type === 'ended') {
    container.ended = observation;
    allocation.release(key, observation);
  }
}

/** The launch of an allocation's job. It has no command: the engine of Slurm runs its own. */
function jobOf(key: string, directory: string, { accountID, clusterID, options }: AllocationRecord): Launch {
  return {
    ...{ key, directory, accountID, clusterID, options },
    containerID: key,
    command: [],
    env: {},
    ports: {},
    mounts: [],
    limits: { cores: 1, memoryBytes: 0, gpus: 0 },
    logPath: join(directory, 'log'),
    job: { name: 'sluice-allocation', comment: `account=${accountID}` },
  };
}

async function put(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, path);
}

/** Undefined if there is no such file. Throws if its content is not valid. */
async function readJSON<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const parsed = schema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`could not read '${path}': ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
