import type { Disk } from '../../src/journal/disk.ts';
import type { MemoryDisk } from '../memory-disk.ts';

/** A process of a model: everything that it does to the disk is one step, before which others may act or it may be killed. */
export type Actor = (disk: ProcessDisk) => Promise<void>;

/** The disk as a process has it. */
export interface ProcessDisk extends Disk {
  /** Whether the process was killed. */
  isKilled(): boolean;
}

/** The steps at which another process continues, and the step at which the process that acts is killed. */
interface Schedule {
  readonly switches: readonly { readonly step: number; readonly to: number }[];
  readonly killAt?: number;
}

/** One run of the processes of a model. */
interface Outcome {
  readonly steps: number;
  /** What a process threw, or what was found wrong. */
  readonly fault?: string;
}

/** A model is created anew for each schedule. */
export interface Model {
  readonly disk: MemoryDisk;
  readonly actors: readonly Actor[];
  /** What is wrong now; undefined if nothing is. Asked after each step. */
  findFault(): string | undefined;
  /** What is wrong when every process has ended or was killed. May act on the disk. */
  findFaultAtEnd(): Promise<string | undefined>;
}

const MAX_STEPS = 400;

/**
 * Executes the processes of a model in every order with at most `switches` changes of the process that acts before it has
 * ended, and for orders with one change less also with a kill at each step. Returns how many orders there were, and the
 * first fault. The bound is that of Musuvathi and Qadeer, "Iterative context bounding for systematic testing of
 * multithreaded programs", PLDI 2007.
 */
export async function exploreSchedules(
  create: () => Model,
  { switches }: { readonly switches: number },
): Promise<{ readonly count: number; readonly fault?: string }> {
  let count = 0;
  const actors = create().actors.length;
  async function tryAll(schedule: Schedule, from: number, left: number): Promise<string | undefined> {
    count++;
    const { steps, fault } = await execute(create(), schedule);
    if (fault !== undefined) return `${JSON.stringify(schedule)}: ${fault}`;
    if (left === 0) return undefined;
    if (schedule.killAt === undefined) {
      for (let killAt = 0; killAt < steps; killAt++) {
        count++;
        const killed = { ...schedule, killAt };
        const found = (await execute(create(), killed)).fault;
        if (found !== undefined) return `${JSON.stringify(killed)}: ${found}`;
      }
    }
    for (let step = from; step < steps; step++) {
      for (let to = 0; to < actors; to++) {
        const next = { switches: [...schedule.switches, { step, to }] };
        const found = await tryAll(next, step + 1, left - 1);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
  const fault = await tryAll({ switches: [] }, 0, switches);
  return { count, ...(fault !== undefined && { fault }) };
}

interface Process {
  /** Continues it with its next step; undefined while it does not wait. */
  next: (() => void) | undefined;
  hasEnded: boolean;
  isKilled: boolean;
  readonly claims: Set<{ release(): Promise<void> }>;
}

async function execute(model: Model, { switches, killAt }: Schedule): Promise<Outcome> {
  const processes = model.actors.map((): Process => {
    return { next: undefined, hasEnded: false, isKilled: false, claims: new Set() };
  });
  let fault: string | undefined;
  for (const [at, actor] of model.actors.entries()) {
    const process = processes[at]!;
    void actor(stepDisk(model.disk, process)).then(
      () => {
        process.hasEnded = true;
      },
      (error: Error) => {
        process.hasEnded = true;
        if (!process.isKilled) fault ??= `process ${at} threw: ${error.stack}`;
      },
    );
  }
  await settle();
  let acting = 0;
  let steps = 0;
  for (; steps < MAX_STEPS && fault === undefined; steps++) {
    const to = switches.find(({ step }) => step === steps)?.to;
    const canAct = (at: number) => processes[at]!.next !== undefined;
    if (to !== undefined && canAct(to)) acting = to;
    if (!canAct(acting)) acting = processes.findIndex((_, at) => canAct(at));
    if (acting < 0) break;
    const process = processes[acting]!;
    if (steps === killAt) await kill(process);
    else {
      const { next } = process;
      process.next = undefined;
      next!();
    }
    await settle();
    fault ??= model.findFault();
  }
  if (steps === MAX_STEPS) fault ??= 'the processes do not end';
  for (const process of processes) await kill(process);
  fault ??= await model.findFaultAtEnd();
  return { steps, ...(fault !== undefined && { fault }) };
}

async function kill(process: Process): Promise<void> {
  process.isKilled = true;
  process.next = undefined;
  for (const claim of process.claims) await claim.release();
}

/** Promises of the processes have settled as far as they can without another step. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The disk as one process has it: each operation waits until it is the turn of the process. */
function stepDisk(disk: MemoryDisk, process: Process): ProcessDisk {
  const turn = () =>
    new Promise<void>((resolve) => {
      if (!process.isKilled) process.next = resolve;
    });
  const step =
    <A extends unknown[], R>(operation: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await turn();
      return operation(...args);
    };
  return {
    ...disk,
    isKilled: () => process.isKilled,
    read: step(disk.read),
    list: step(disk.list),
    replace: step(disk.replace),
    create: step(disk.create),
    remove: step(disk.remove),
    ask: step(disk.ask),
    async claim(directory, listener) {
      await turn();
      const claim = await disk.claim(directory, listener);
      if (claim !== undefined) process.claims.add(claim);
      return claim;
    },
    async append(path, size) {
      await turn();
      const file = await disk.append(path, size);
      return { write: (bytes) => file.write(bytes), sync: step(() => file.sync()), close: () => file.close() };
    },
  };
}
