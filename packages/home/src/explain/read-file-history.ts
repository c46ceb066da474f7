import path from 'node:path';
import { fail, ok, type Result } from '@sluice/core';
import {
  type CellOrigin,
  type FileHistory,
  type FileMaker,
  type FilePort,
  type FileSource,
  type FileUse,
  findFileSource,
  findFileUses,
  findWriter,
  isRemoved,
  originKey,
  publishedPath,
  type ReplayedRun,
  type RunError,
} from '@sluice/run';
import type { Disk } from '../journal/disk.ts';
import { journalPath } from '../journal/open-journal.ts';
import { createSystemDisk } from '../journal/system-disk.ts';
import { listRuns } from '../runs/list-runs.ts';
import { replayFromHome } from '../runs/read-run.ts';
import { runDirectory } from '../runs/run-home.ts';

const MAX_MAKERS = 20;
const MAX_USES = 100;
/** The journals of older runs are not searched for uses. */
const MAX_RUNS = 1_000;

/** The files to describe. */
export interface FileHistoryOptions {
  readonly home: string;
  /** May be shortened to an unambiguous prefix. */
  readonly runId: string;
  /** Chooses the files, once the run is read. */
  readonly port: (run: ReplayedRun) => Result<FilePort, RunError>;
  readonly disk?: Disk;
}

/**
 * Which run, step, cell and attempt wrote the files of an output, and which cells of the home's runs have reused or
 * mounted them: from the journals alone. Changes nothing.
 */
export async function readFileHistory(options: FileHistoryOptions): Promise<Result<FileHistory, RunError>> {
  const disk = options.disk ?? createSystemDisk();
  const home = path.resolve(options.home);
  const asked = await replayFromHome(disk, home, options.runId);
  if (!asked.ok) return asked;
  const run = asked.value;
  const port = options.port(run);
  if (!port.ok) return port;
  const source = findFileSource(run, port.value);
  if (source === undefined) return fail({ code: 'SOURCE_MISSING', message: describeMissing(run, port.value) });
  const readOne = createReader(disk, home, run);
  const makers = await Promise.all(
    source.origins.slice(0, MAX_MAKERS).map((origin) => describeMaker(origin, { source, readOne })),
  );
  const found = await findUses(source, { disk, home, readOne });
  return ok({
    ...{ runId: run.runId, step: source.step, output: source.output },
    ...(source.path !== '' && { path: source.path }),
    ...{ makers, makerCount: source.origins.length },
    ...{ uses: found.uses.slice(0, MAX_USES), useCount: found.uses.length },
    unknown: [...describeNoMaker(source), ...found.unknown, ...ALWAYS_UNKNOWN],
  });
}

const ALWAYS_UNKNOWN = [
  'uses by runs of other homes, and copies that were made without a run, such as by sluice pull',
  'changes of the files after they were published: only sizes and times of some trees are recorded, and no content',
];

type ReadOne = (runId: string) => Promise<Result<ReplayedRun, RunError>>;

/** Each run is replayed once. */
function createReader(disk: Disk, home: string, first: ReplayedRun): ReadOne {
  const known = new Map<string, ReturnType<ReadOne>>([[first.runId, Promise.resolve(ok(first))]]);
  return (runId) => {
    const reading = known.get(runId) ?? replayFromHome(disk, home, runId);
    known.set(runId, reading);
    return reading;
  };
}

async function describeMaker(
  origin: CellOrigin,
  { source, readOne }: { readonly source: FileSource; readonly readOne: ReadOne },
): Promise<FileMaker> {
  const { runId, step, cell, clusterID, volumeID } = origin;
  const at = publishedPath({ runId, step, output: source.output, cell: origin.path });
  const file = source.path === '' ? at : `${at}/${source.path}`;
  const base = { runId, step, cell, clusterId: clusterID, volumeId: volumeID, path: file };
  const read = await readOne(runId);
  if (!read.ok) return { ...base, problem: `which attempt wrote it is not known: ${read.error.message}` };
  const { facts } = read.value;
  const writer = findWriter(read.value, origin);
  const { attempt } = writer ?? {};
  const isGone = writer !== undefined && isRemoved(facts, { ...writer, output: source.output });
  const problem = isGone
    ? 'the output was temporary and was removed'
    : attempt === undefined
      ? 'which attempt wrote it is not known: the journal of the run does not say'
      : undefined;
  return {
    ...base,
    pipeline: facts.plan.pipeline.name,
    ...(attempt && { attempt: attempt.attempt }),
    ...(attempt?.id !== undefined && { containerId: attempt.id }),
    ...(attempt?.publishedAt !== undefined && { publishedAt: attempt.publishedAt }),
    ...(problem !== undefined && { problem }),
  };
}

/** A run that uses outputs of another one has its ID in its journal. */
async function findUses(
  source: FileSource,
  { disk, home, readOne }: { readonly disk: Disk; readonly home: string; readonly readOne: ReadOne },
): Promise<{ readonly uses: readonly FileUse[]; readonly unknown: readonly string[] }> {
  const wanted = { origins: new Set(source.origins.map(originKey)), output: source.output, path: source.path };
  const makers = new Set(source.origins.map(({ runId }) => runId));
  const runs = await listRuns(home, disk);
  const uses: FileUse[] = [];
  const unreadable: string[] = [];
  for (const { runId } of runs.slice(0, MAX_RUNS)) {
    const text = Buffer.from((await disk.read(journalPath(runDirectory(home, runId)))) ?? new Uint8Array());
    if (!makers.has(runId) && ![...makers].some((maker) => text.includes(maker))) continue;
    const read = await readOne(runId);
    if (read.ok) uses.push(...findFileUses(read.value, wanted));
    else unreadable.push(runId);
  }
  const left = runs.length - MAX_RUNS;
  return {
    uses,
    unknown: [
      ...(left > 0 ? [`uses by the ${left} oldest runs of this home, which were not searched`] : []),
      ...(unreadable.length > 0 ? [`uses by runs that could not be read: ${unreadable.slice(0, 5).join(', ')}`] : []),
    ],
  };
}

function describeNoMaker({ origins }: FileSource): readonly string[] {
  return origins.length > 0 ? [] : ['who wrote it: no cell of the step has succeeded, so that nothing was published'];
}

function describeMissing({ facts, runId }: ReplayedRun, { step, kind, name }: FilePort): string {
  const planned = facts.plan.steps[step]!.step;
  const isVolume = kind === 'input' && Object.hasOwn(planned.inputs, name);
  return isVolume
    ? `input ${name} of step ${planned.name} is a volume: it was uploaded or made outside of runs, so that no step has written it`
    : `step ${planned.name} of run ${runId} has no ${kind} ${name}`;
}
