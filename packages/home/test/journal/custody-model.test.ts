import type { JournalRecord } from '@sluice/run';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { describeCustody, isCollecting, moveCustody, placeOf, readCustody } from '../../src/journal/custody.ts';
import type { Disk } from '../../src/journal/disk.ts';
import { readLease } from '../../src/journal/lease.ts';
import { encodeLine } from '../../src/journal/line-codec.ts';
import { openJournal } from '../../src/journal/open-journal.ts';
import { createMemoryDisk, type MemoryDisk } from '../memory-disk.ts';
import { type Actor, exploreSchedules, type Model, type ProcessDisk } from './explore-schedules.ts';

const RUN = '/home/runs/aaaaaaaaaaaaa';
const PLACE = { service: 'https://server.example', cluster: 'main', account: 'physics', publish: {} };
/** Records that a process writes before the run ends. */
const WORK = 2;
/** Attempts to take a run from the process that has it. */
const TRIES = 4;

const clock: Clock = {
  now: () => 1,
  wall: () => 1,
  boot: () => undefined,
  setTimer: () => () => {},
  defer: (callback) => callback(),
};

/** What all processes of a model do together. */
interface World {
  readonly disk: MemoryDisk;
  /** The processes that execute the run now. */
  readonly executing: Set<Pick<ProcessDisk, 'isKilled'>>;
  /** Whether its end is recorded. */
  hasEnded: boolean;
  /** Whether a server executes the run. */
  isOnServer: boolean;
  /** Whether the run begins with its order. */
  readonly isNew: boolean;
}

const isKind = (kind: JournalRecord['kind']) => (record: JournalRecord) => record.kind === kind;

/** A process that executes the run until its end, or until another one asks for it. */
async function execute(world: World, disk: ProcessDisk): Promise<'ended' | 'left' | 'in use' | 'rejected' | 'no run'> {
  let isAsked = false;
  const opened = await openJournal(RUN, {
    ...{ disk, clock },
    control() {
      isAsked = true;
      return 'ok';
    },
    reject({ records }) {
      if (records.some(isKind('finished'))) return { code: 'RUN_FINISHED', message: 'it has ended' };
      return records.some(isKind('run')) ? undefined : { code: 'RUN_NOT_FOUND', message: 'it has not begun' };
    },
  });
  if (!opened.ok) {
    if (opened.error.code === 'RUN_FINISHED') {
      // Its process may have been killed after it had written the end.
      world.hasEnded = true;
      return 'ended';
    }
    if (opened.error.code === 'RUN_NOT_FOUND') return 'no run';
    return opened.error.code === 'RUN_IN_USE' && opened.error.message.includes('lock') ? 'in use' : 'rejected';
  }
  const { journal, release } = opened.value;
  world.executing.add(disk);
  try {
    for (let done = 0; done < WORK && !isAsked; done++) {
      journal.append({ kind: 'event', event: { type: 'tick', at: done } });
      await journal.commit();
    }
    if (isAsked) return 'left';
    journal.append({ kind: 'finished', at: 1, status: 'succeeded' } as JournalRecord);
    await journal.commit();
    world.hasEnded = true;
    return 'ended';
  } finally {
    world.executing.delete(disk);
    await release();
  }
}

async function askToLeave(disk: Disk): Promise<void> {
  const lease = await readLease(disk, RUN);
  await disk.ask(RUN, `${lease?.control} detach`);
}

const run = (disk: Disk) => ({ disk, directory: RUN });

/** `sluice run` in a terminal, as far as it has begun. */
const terminal =
  (world: World): Actor =>
  async (disk) =>
    void (await execute(world, disk));

/** The process that hosts the runs of the home. */
const host =
  (world: World): Actor =>
  async (disk) => {
    for (let tries = 0; tries < TRIES; tries++) {
      if ((await readCustody(run(disk))).state !== 'host') return;
      const result = await execute(world, disk);
      if (result !== 'ended' && result !== 'no run') continue;
      await moveCustody(run(disk), 'end');
      return;
    }
  };

/** `sluice detach`. */
const detach: Actor = async (disk) => {
  const moved = await moveCustody(run(disk), 'detach');
  if (moved.ok) await askToLeave(disk);
};

/** `sluice attach` of a run of a server. */
const attach =
  (world: World): Actor =>
  async (disk) => {
    if ((await readCustody(run(disk))).state === 'ordering' && world.isOnServer) await moveCustody(run(disk), 'accept');
  };

/** `sluice resume`. */
const resume =
  (world: World): Actor =>
  async (disk) => {
    if (placeOf(await readCustody(run(disk))) !== undefined) return attach(world)(disk);
    const moved = await moveCustody(run(disk), 'take');
    if (!moved.ok) return;
    if (moved.value.state === 'host') await askToLeave(disk);
    for (let tries = 0; tries < TRIES; tries++) if ((await execute(world, disk)) !== 'in use') return;
  };

/** `sluice run --detach` with a server, which accepts or rejects the order. */
const order =
  (world: World, isAccepted: boolean): Actor =>
  async (disk) => {
    if (!(await moveCustody(run(disk), 'order', { place: PLACE })).ok) return;
    // The request: the process may be killed before it, or before the reply arrives.
    await disk.list('/server');
    if (isAccepted) world.isOnServer = true;
    await disk.list('/server');
    if (isAccepted) await moveCustody(run(disk), 'accept');
    else await disk.remove(RUN);
  };

/** `sluice gc`, for which the run is old enough as soon as it has ended. */
const collect =
  (world: World, { checksUse = async () => false }: { checksUse?: () => Promise<boolean> } = {}): Actor =>
  async (disk) => {
    if (!world.hasEnded) return;
    if (!(await moveCustody(run(disk), 'collect')).ok) return;
    if (await checksUse()) {
      await moveCustody(run(disk), 'keep');
      return;
    }
    const claim = await disk.claim(RUN);
    if (claim === undefined) return;
    await disk.remove(RUN);
    await claim.release();
  };

interface Start {
  readonly has?: 'journal' | 'end' | 'nothing';
  readonly state?: 'free' | 'host' | 'server';
  readonly actors: (world: World) => readonly Actor[];
}

function createModel({ has = 'journal', state = 'free', actors }: Start): () => Model {
  return () => {
    const disk = createMemoryDisk();
    const world: World = {
      disk,
      executing: new Set(),
      hasEnded: has === 'end',
      isOnServer: state === 'server',
      isNew: has === 'nothing',
    };
    const header = { kind: 'run', runId: 'aaaaaaaaaaaaa', pipeline: 'p', format: 2, at: 0, scheduler: {} };
    const finished = { kind: 'finished', at: 1, status: 'succeeded' };
    const records = (has === 'end' ? [header, finished] : [header]) as unknown as JournalRecord[];
    const lines = records.map((record, at) => encodeLine({ seq: at + 1, first: 1, epoch: 1, record }));
    if (has !== 'nothing') {
      disk.files.set(`${RUN}/plan.json`, Buffer.from('{}'));
      disk.files.set(`${RUN}/journal.ndjson`, Buffer.from(lines.join('')));
    }
    const custody = state === 'host' ? { state, options: {} } : { state, place: PLACE };
    if (state !== 'free') disk.files.set(`${RUN}/custody.json`, Buffer.from(JSON.stringify(custody)));
    return {
      disk,
      actors: actors(world),
      findFault() {
        const alive = [...world.executing].filter((process) => !process.isKilled());
        const executors = alive.length + (world.isOnServer ? 1 : 0);
        return executors > 1 ? `${executors} processes execute the run` : undefined;
      },
      findFaultAtEnd: () => findStuck(world),
    };
  };
}

/** What keeps the run from continuing or ending, when nothing else is done any more. */
async function findStuck(world: World): Promise<string | undefined> {
  const disk: ProcessDisk = { ...world.disk, isKilled: () => false };
  world.executing.clear();
  const custody = await readCustody(run(disk));
  const isHere = describeCustody(custody) === undefined;
  const exists = (await disk.list(RUN)).includes('journal.ndjson');
  // A command that had found the run before it was removed; the host and the next command find no run.
  if (!exists && custody.state === 'host') {
    await host(world)(disk);
    return (await readCustody(run(disk))).state === 'free' ? undefined : 'the host keeps a run that does not exist';
  }
  if (world.isOnServer && !exists && world.hasEnded) return undefined;
  if (world.isOnServer) {
    await attach(world)(disk);
    const { state } = await readCustody(run(disk));
    return state === 'server' || state === 'collectingCopy'
      ? undefined
      : `a server executes the run, which is ${state}`;
  }
  if (!exists) return world.hasEnded || world.isNew ? undefined : 'the run is lost';
  if (isCollecting(custody)) {
    await collect(world)(disk);
    return (await disk.list(RUN)).length === 0 ? undefined : 'the run can neither be removed nor continued';
  }
  if (!isHere) return `nothing executes the run, which is ${custody.state}`;
  await (custody.state === 'host' ? host : resume)(world)(disk);
  if (!world.hasEnded) return `the run cannot be continued, and is ${custody.state}`;
  return (await readCustody(run(disk))).state === 'free' ? undefined : 'the run has ended, and a host has it';
}

const MODELS: Readonly<Record<string, Start>> = {
  'a run of a terminal that is detached while it is resumed elsewhere': {
    actors: (world) => [terminal(world), detach, host(world), resume(world)],
  },
  'a run of the host that two commands take, and one detaches again': {
    state: 'host',
    actors: (world) => [host(world), resume(world), resume(world), detach],
  },
  'a run that is ordered, while others ask for it': {
    has: 'nothing',
    actors: (world) => [order(world, true), resume(world), detach, attach(world)],
  },
  'an order that is rejected, while others ask for it': {
    has: 'nothing',
    actors: (world) => [order(world, false), resume(world), detach, attach(world)],
  },
  'a run that is removed after its end, while it is resumed and detached': {
    actors: (world) => [terminal(world), collect(world), resume(world), detach],
  },
  'a run of the host that is removed after its end': {
    state: 'host',
    actors: (world) => [host(world), collect(world), collect(world, { checksUse: async () => true })],
  },
  'the copy of a run of a server that is removed, or kept': {
    has: 'end',
    state: 'server',
    actors: (world) => [collect(world), collect(world, { checksUse: async () => true }), resume(world), detach],
  },
};

const SWITCHES = process.env.SLUICE_SOAK === 'true' ? 2 : 1;

test.each(Object.entries(MODELS))(
  'no run has two executors, and every run can continue or end: %s',
  async (_, start) => {
    const { count, fault } = await exploreSchedules(createModel(start), { switches: SWITCHES });
    expect(fault).toBeUndefined();
    expect(count).toBeGreaterThan(50);
  },
);

/** Processes that do one thing wrong, which the search must find. */
const BUGS: Readonly<Record<string, Start>> = {
  'a host that does not read the custody': {
    actors: (world) => [
      terminal(world),
      order(world, true),
      async (disk) => {
        world.isOnServer = false;
        await execute(world, disk);
      },
    ],
  },
  'a command that detaches without a mark': {
    state: 'host',
    actors: (world) => [
      host(world),
      async (disk) => {
        await disk.remove(`${RUN}/custody.json`);
        await moveCustody(run(disk), 'order', { place: PLACE });
        world.isOnServer = true;
      },
    ],
  },
  'a garbage collection that removes a run without its claim': {
    actors: (world) => [
      terminal(world),
      async (disk) => {
        await disk.remove(RUN);
      },
    ],
  },
};

test.each(Object.entries(BUGS))('the search finds %s', async (_, start) => {
  expect((await exploreSchedules(createModel(start), { switches: SWITCHES })).fault).toBeDefined();
});
