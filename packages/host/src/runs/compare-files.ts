import { createHash } from 'node:crypto';
import { type ContainerService, type FileEntry, isServiceError, type VolumeFiles } from '@sluice/client';
import type { RunFollower } from '@sluice/home';
import type { DataLocation } from '@sluice/run';
import { listTree, openVolume } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { fileDifferences } from '../schemas/cell-replies.ts';
import { compareTrees, type FilePair } from './compare-trees.ts';
import { type DataPort, unknownPort, unwrittenPort } from './data-port.ts';
import { findPort } from './describe-cell.ts';
import { type CellAddress, type CellPlace, findCell } from './describe-cells.ts';
import type { Followers } from './open-followers.ts';

type Reply = z.input<typeof fileDifferences>;
type Difference = Reply['differences'][number];

interface Context {
  readonly home: string;
  readonly followers: Followers;
  /** Opens the service of a run. Throws `ApiError`. */
  readonly openService: (runId: string) => Promise<ContainerService>;
}

/** The two inputs or outputs to compare. */
interface Query extends CellAddress {
  readonly port: DataPort;
  readonly with: string;
  readonly withStep?: string;
  readonly withCell?: string;
}

/** A file, and the volume that has it. */
interface OpenFile extends FileEntry {
  readonly files: VolumeFiles;
}

const MAX_DIFFERENCES = 10_000;
/** Equal sizes need the contents of both files; no more than this is read for one request. */
const MAX_READ_BYTES = 1_000_000_000;

/** Which files of an input or output differ from those of another run or cell, by SHA-256. Throws `ApiError`. */
export async function compareFiles(context: Context, runId: string, query: Query): Promise<Reply> {
  const run = await context.followers.read(runId);
  const other = await context.followers.read(query.with);
  const place = findCell(run, query);
  const otherPlace = findOther(run, place, { other, query });
  const places = requirePort(run, place, query.port);
  const otherPlaces = requirePort(other, otherPlace, query.port);
  // A reused output is the same directory.
  if (JSON.stringify(places) === JSON.stringify(otherPlaces)) {
    const here = await listPort(context, runId, places);
    return { differences: [], otherCellIndex: otherPlace.cell, total: 0, same: here.size };
  }
  const [here, there] = [await listPort(context, runId, places), await listPort(context, query.with, otherPlaces)];
  const { added, removed, changed, undecided, same } = compareTrees(here, there);
  const decided = await decide(undecided);
  const differences: Difference[] = [
    ...added.map(({ path, here }) => ({ path, kind: 'added' as const, here: describeSide(here) })),
    ...removed.map(({ path, there }) => ({ path, kind: 'removed' as const, there: describeSide(there) })),
    ...changed.map((pair) => describePair(pair, 'changed')),
    ...decided.differences,
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    differences: differences.slice(0, MAX_DIFFERENCES),
    otherCellIndex: otherPlace.cell,
    total: differences.length,
    same: same + decided.same,
  };
}

/** The other cell: the one with the given name, else the one with the same name. */
function findOther(
  run: RunFollower,
  { step, cell }: CellPlace,
  { other, query }: { readonly other: RunFollower; readonly query: Query },
): CellPlace {
  const { plan, cells } = run.model.facts;
  const name = query.withStep ?? plan.steps[step]!.step.name;
  return findCell(other, { step: name, cell: query.withCell ?? cells[step]?.[cell]?.key ?? '' });
}

function requirePort(run: RunFollower, place: CellPlace, port: DataPort) {
  const places = findPort(run, { ...place, port });
  const step = `the step of run ${run.runId}`;
  if (places === undefined) throw unknownPort(port, step);
  if (places.length === 0) throw unwrittenPort(port, step);
  return places;
}

/** All files by their path; below the name of the cell if there are several directories. */
async function listPort(
  context: Context,
  runId: string,
  places: readonly { readonly cell: string; readonly place: DataLocation }[],
): Promise<Map<string, OpenFile>> {
  const service = await context.openService(runId);
  const found = new Map<string, OpenFile>();
  for (const { cell, place } of places) {
    const opened = await openVolume({ home: context.home, service, volume: place });
    if (!opened.ok) throw new ApiError(409, 'NO_LOGIN', `could not read the files: ${opened.error}`);
    const files = opened.value;
    try {
      for (const entry of await listFiles(files, place.path)) {
        const path = [cell, entry.path.slice(place.path.length + 1)].filter((part) => part !== '').join('/');
        found.set(path, { ...entry, files });
      }
    } catch (error) {
      if (isServiceError(error)) throw new ApiError(503, 'SERVICE_UNREACHABLE', error.message);
      throw error;
    }
  }
  return found;
}

async function listFiles(files: VolumeFiles, path: string): Promise<readonly FileEntry[]> {
  const top = await files.stat(path);
  if (top === undefined) return [];
  return top.kind === 'file' ? [top] : (await listTree(files, path)).files;
}

/** Reads files of the same size, as far as the limit allows. */
async function decide(pairs: readonly FilePair<OpenFile>[]): Promise<{ differences: Difference[]; same: number }> {
  const differences: Difference[] = [];
  let [same, left] = [0, MAX_READ_BYTES];
  for (const pair of pairs) {
    left -= 2 * pair.here.size;
    if (left < 0) {
      differences.push(describePair(pair, 'unknown'));
      continue;
    }
    const [here, there] = await Promise.all([hash(pair.here), hash(pair.there)]);
    if (here === there) same += 1;
    else differences.push(describePair(pair, 'changed', { here, there }));
  }
  return { differences, same };
}

async function hash({ files, path }: OpenFile): Promise<string> {
  const sum = createHash('sha256');
  try {
    for await (const chunk of await files.read(path)) sum.update(chunk);
  } catch (error) {
    if (isServiceError(error)) throw new ApiError(503, 'SERVICE_UNREACHABLE', error.message);
    throw error;
  }
  return sum.digest('hex');
}

function describePair(
  { path, here, there }: FilePair<OpenFile>,
  kind: 'changed' | 'unknown',
  hashes: { readonly here?: string; readonly there?: string } = {},
): Difference {
  return { path, kind, here: describeSide(here, hashes.here), there: describeSide(there, hashes.there) };
}

function describeSide({ size, link }: OpenFile, sha256?: string): NonNullable<Difference['here']> {
  return link === undefined ? { bytes: size, ...(sha256 !== undefined && { sha256 }) } : { link };
}
