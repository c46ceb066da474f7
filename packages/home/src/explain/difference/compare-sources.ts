import type { Result } from '@sluice/core';
import type { PartDifference, ReplayedRun, SourceFileDifference, VolumePlace } from '@sluice/run';
import type { ChangedSource } from './compare-places.ts';

/** A file of an uploaded source, relative to it. */
export interface SourceFileEntry {
  readonly path: string;
  readonly sha256: string;
}

/** Lists the files of an uploaded source of a run; the error says why it cannot. */
export type SourceLister = (
  run: ReplayedRun,
  volume: VolumePlace,
) => Promise<Result<readonly SourceFileEntry[], string>>;

const MAX_FILES = 20;

interface Runs {
  readonly run: ReplayedRun;
  readonly other: ReplayedRun;
  readonly listFiles?: SourceLister;
}

/** Those of some parts that are about sources, with the files that differ. Each source is listed once. */
export async function compareSources(
  { run, other, listFiles }: Runs,
  sources: ReadonlyMap<PartDifference, ChangedSource>,
  parts: readonly PartDifference[],
): Promise<ReadonlyMap<PartDifference, PartDifference>> {
  const found = new Map<PartDifference, PartDifference>();
  if (listFiles === undefined) return found;
  const lists = new Map<string, ReturnType<SourceLister>>();
  const list = (of: ReplayedRun, volume: VolumePlace) => {
    const id = `${of.runId} ${volume.volumeID} ${volume.path}`;
    const listed = lists.get(id) ?? listFiles(of, volume);
    lists.set(id, listed);
    return listed;
  };
  for (const part of parts) {
    const source = sources.get(part);
    if (source === undefined) continue;
    const { before, after, path } = source;
    const [old, now] = [await list(other, before), await list(run, after)];
    const fault = old.ok ? (now.ok ? undefined : now.error) : old.error;
    if (!old.ok || !now.ok) found.set(part, { ...part, message: `${part.message}; its files are not known: ${fault}` });
    else found.set(part, describeFiles(part, compareFiles(old.value, now.value, path)));
  }
  return found;
}

function describeFiles(part: PartDifference, files: readonly SourceFileDifference[]): PartDifference {
  const [first] = files;
  // The list has neither links nor empty directories.
  if (first === undefined) return { ...part, message: `${part.message}, but no content of a file`, fileCount: 0 };
  const more = files.length === 1 ? '' : `, and ${files.length - 1} other ${files.length === 2 ? 'file' : 'files'}`;
  const message = `${part.message}: ${first.path} was ${first.kind}${more}`;
  return { ...part, message, files: files.slice(0, MAX_FILES), fileCount: files.length };
}

/** The files below a path that differ, in order of their paths. */
function compareFiles(
  before: readonly SourceFileEntry[],
  after: readonly SourceFileEntry[],
  below: string,
): readonly SourceFileDifference[] {
  const isBelow = (path: string) => below === '' || path === below || path.startsWith(`${below}/`);
  const toMap = (files: readonly SourceFileEntry[]) =>
    new Map(files.filter(({ path }) => isBelow(path)).map(({ path, sha256 }) => [path, sha256]));
  const [old, now] = [toMap(before), toMap(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path): SourceFileDifference[] => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was === is) return [];
    if (was === undefined) return [{ path, kind: 'added', after: is! }];
    return is === undefined
      ? [{ path, kind: 'removed', before: was }]
      : [{ path, kind: 'changed', before: was, after: is }];
  });
}
