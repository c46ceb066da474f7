import { type ContainerService, isServiceError, type VolumeFiles, type VolumeService } from '@sluice/client';
import { type HomePlace, withHomeLock } from '@sluice/home';
import { SOURCES, sourcePath, TRASH } from '@sluice/run';
import { allowAbsent } from '../trees/list-tree.ts';
import { measureVolume } from '../trees/measure-volume.ts';
import { readSourceMark, SOURCES_LOCK } from '../trees/source-mark.ts';
import { openTreeStates } from '../trees/tree-states.ts';
import type { RunRecord } from './read-run-records.ts';
import { isSameAccount, type UnknownAccount } from './runs-elsewhere.ts';

/** An uploaded source that no run of the home mounts any more. */
export interface FreedSource {
  readonly kind: 'source';
  readonly volumeId: string;
  readonly digest: string;
  readonly bytes: number;
}

interface SourceRules {
  /** All runs, including those that were just removed: they contain the clusters and accounts of the volumes. */
  readonly records: readonly RunRecord[];
  /** The runs that are kept. */
  readonly staying: readonly RunRecord[];
  readonly workspaces: readonly { readonly volumeID: string; readonly login?: VolumeService | undefined }[];
  /** Accounts with runs that may mount any source. */
  readonly unknown: readonly UnknownAccount[];
  readonly usedBefore: number;
}

type Place = HomePlace & { readonly service: ContainerService; readonly dryRun?: boolean };

/** Removes old uploaded sources that no remaining run of the home mounts. */
export async function collectSources(
  place: Place,
  rules: SourceRules,
): Promise<{ readonly freed: FreedSource[]; readonly problems: string[] }> {
  const freed: FreedSource[] = [];
  const problems: string[] = [];
  // If a run's journal cannot be read, it is unknown what the run mounts.
  if (rules.staying.some(({ needs }) => needs === undefined)) return { freed, problems };
  const needed = new Set(rules.staying.flatMap(({ needs }) => [...needs!.sources]));
  const scopes = new Map(
    rules.records.flatMap(({ workspaces }) => workspaces.map((workspace) => [workspace.volumeID, workspace])),
  );
  for (const { volumeID, login } of rules.workspaces) {
    const scope = scopes.get(volumeID);
    if (!login || !scope || rules.unknown.some((account) => isSameAccount(account, scope))) continue;
    try {
      const files = place.service.volumes.files({ ...scope, id: volumeID }, login);
      for (const entry of await allowAbsent(files).list(SOURCES)) {
        const digest = entry.path.slice(SOURCES.length + 1);
        if (needed.has(`${volumeID}/${digest}`)) continue;
        const bytes = await collectSource(place, { files, volumeID, digest, usedBefore: rules.usedBefore });
        if (bytes !== undefined) freed.push({ kind: 'source', volumeId: volumeID, digest, bytes });
      }
      if (!place.dryRun) await files.remove(TRASH);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      problems.push(`could not list the sources of volume ${volumeID}: ${error.message}`);
    }
  }
  return { freed, problems };
}

/** The bytes that were freed; undefined if the source was used recently, or is incomplete. */
async function collectSource(
  place: Place,
  source: {
    readonly files: VolumeFiles;
    readonly volumeID: string;
    readonly digest: string;
    readonly usedBefore: number;
  },
): Promise<number | undefined> {
  const { files, volumeID, digest, usedBefore } = source;
  const { mark, files: path } = sourcePath(digest);
  const { bytes } = await measureVolume(files, `${SOURCES}/${digest}`);
  return withHomeLock({ ...place, name: SOURCES_LOCK }, async () => {
    const usedAt = await readSourceMark(files, mark);
    if (usedAt === undefined || usedAt >= usedBefore) return undefined;
    // By one rename: a run that needs the source at this moment finds all of it or nothing.
    if (!place.dryRun) {
      await files.move(`${SOURCES}/${digest}`, `${TRASH}/${digest}-${place.clock.now()}`);
      await openTreeStates(place).forget({ volumeID, path });
    }
    return bytes;
  });
}
