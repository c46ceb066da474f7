import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError, replaceFile } from '@sluice/host-system';
import { z } from 'zod';
import type { Launch } from '../engine.ts';
import { agentSettingsSchema } from './agent-settings.ts';
import { Allocation } from './allocation.ts';
import { ORDERS, REPORTS, SETTINGS } from './allocation-files.ts';
import { nodeDirectories } from './node-directories.ts';
import { tailSpool } from './spool-file.ts';
import { type EndedObservation, endedSchema, type Order, parseOrder } from './spool-lines.ts';

const RECORD = /^(allocation-[a-z0-9-]{1,80})\.json$/;

const recordSchema = z.strictObject({
  accountID: z.string(),
  clusterID: z.string(),
  /** Of the instance type, as in `Launch`. */
  options: z.record(z.string(), z.unknown()),
  /** Its containers need GPUs. */
  hasGpus: z.boolean().default(false),
  settings: agentSettingsSchema,
});
/** What the service knows of an allocation. It is beside its directory, which belongs to the user of the account. */
export type AllocationRecord = z.infer<typeof recordSchema>;

const outcomesSchema = z.array(z.tuple([z.string(), endedSchema]));
/** How containers have ended, by their keys. */
export type Outcomes = Map<string, EndedObservation>;

/** What the storage has of an allocation that has not ended. */
export interface LoadedAllocation {
  readonly record: AllocationRecord;
  /** Its reports are not read. */
  readonly allocation: Allocation;
  /** Of each node. */
  readonly orders: readonly (readonly Order[])[];
}

/** The allocations of one cluster on its storage. */
export interface AllocationDirectory {
  /** Makes an allocation, with all that its agent needs. Nothing is submitted. */
  make(key: string, record: AllocationRecord): Promise<Allocation>;
  /** All that were made. What is left of one whose making was interrupted is removed. */
  load(): Promise<{ live: LoadedAllocation[]; over: ReadonlyMap<string, Outcomes> }>;
  /** Replaces the files of an ended allocation, which may contain secrets, by how its containers have ended. */
  keepOutcomes(key: string, outcomes: Outcomes): Promise<void>;
  remove(key: string): Promise<void>;
}

/** Reads and writes nothing yet. */
export function openAllocationDirectory(directory: string): AllocationDirectory {
  const place = (key: string) => join(directory, key);
  const recordOf = (key: string) => `${place(key)}.json`;
  const outcomesOf = (key: string) => `${place(key)}.outcomes`;
  const list = async () =>
    await readdir(directory).catch((error: unknown): string[] => {
      if (isSystemError(error, 'ENOENT')) return [];
      throw error;
    });
  const removeNodes = async (key: string) => {
    const others = (await list()).filter((name) => name.startsWith(`${key}.`) && /\.\d+$/.test(name));
    for (const name of [...others, key]) await rm(place(name), { recursive: true, force: true });
  };
  const remove = async (key: string) => {
    await removeNodes(key);
    // The record last: without it, nothing would say what the others are.
    for (const path of [outcomesOf(key), recordOf(key)]) await rm(path, { recursive: true, force: true });
  };
  return {
    remove,
    async make(key, record) {
      await mkdir(directory, { recursive: true, mode: 0o711 });
      await replaceFile(recordOf(key), JSON.stringify(record));
      const places = nodeDirectories(place(key), record.settings.nodes);
      // Its own last: without it, the making was interrupted.
      for (const path of places.toReversed()) {
        await mkdir(path, { mode: 0o700 });
        for (const name of [ORDERS, REPORTS]) await writeFile(join(path, name), '', { mode: 0o600 });
      }
      await writeFile(join(place(key), SETTINGS), JSON.stringify(record.settings), { mode: 0o600 });
      return new Allocation(jobOf(key, place(key), record), record.settings);
    },
    async load() {
      const live: LoadedAllocation[] = [];
      const over = new Map<string, Outcomes>();
      const names = await list();
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
      await replaceFile(outcomesOf(key), JSON.stringify([...outcomes]));
      await removeNodes(key);
    },
  };
}

async function load(job: Launch, record: AllocationRecord): Promise<LoadedAllocation> {
  const allocation = new Allocation(job, record.settings);
  const orders = await Promise.all(allocation.nodes.map((node) => readOrders(node.directory)));
  return { record, allocation, orders };
}

async function readOrders(directory: string): Promise<Order[]> {
  const tail = tailSpool(join(directory, ORDERS));
  const orders: Order[] = [];
  for (let lines = await tail.read(); lines.length > 0; lines = await tail.read())
    orders.push(...lines.flatMap((line) => parseOrder(line) ?? []));
  return orders;
}

/** The launch of an allocation's job, which gets all of its nodes. It has no command: the engine of Slurm runs its own. */
function jobOf(key: string, directory: string, record: AllocationRecord): Launch {
  const { accountID, clusterID, options, hasGpus, settings } = record;
  const { nodes } = settings;
  return {
    ...{ key, directory, accountID, clusterID, options },
    containerID: key,
    command: [],
    env: {},
    ports: {},
    mounts: [],
    limits: { cores: nodes, memoryBytes: 0, gpus: hasGpus ? nodes : 0 },
    logPath: join(directory, 'log'),
    job: { name: 'sluice-allocation', comment: `account=${accountID}`, tasks: { nodes, perNode: 1 } },
  };
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
