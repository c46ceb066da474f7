import type { FileEntry, VolumeFiles } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { MANIFEST, type OutputLocation } from '@sluice/run';
import { describeMissing, findBelow } from '../trees/find-below.ts';
import { type Manifest, renderManifest } from './create-manifest.ts';

/** A published output. */
export interface PublishedOutput {
  /** The entry of a plain step has the cell `''`. */
  readonly locations: readonly OutputLocation[];
  /** For a step with cells: written next to the directories of the cells. */
  readonly manifest: Manifest | undefined;
  readonly files: (place: OutputLocation) => VolumeFiles;
}

/** A directory or a file of a published output. */
export type OutputPart =
  | { readonly kind: 'dir'; readonly output: PublishedOutput }
  | { readonly kind: 'file'; readonly volume: Pick<VolumeFiles, 'read'>; readonly entry: FileEntry };

/**
 * Finds what `path` leads to in an output, in the layout that a step finds in its input: for a step with cells, the first
 * name is that of a cell. Fails with a reason if the output has no such path, or if the path leads out of the output.
 * Throws `ServiceError`.
 */
export async function findPart(output: PublishedOutput, path: string): Promise<Result<OutputPart, string>> {
  const { locations, manifest } = output;
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    return fail('a path in an output has no empty name, no `.` and no `..`');
  }
  const [only] = locations;
  if (manifest === undefined && only !== undefined) return findInPlace(output, only, names);
  const [cell = '', ...rest] = names;
  if (manifest !== undefined && path === MANIFEST) return ok(textFile(MANIFEST, renderManifest(manifest)));
  const place = locations.find((one) => one.cell === cell);
  if (place !== undefined) return findInPlace(output, place, rest);
  return fail(describeMissing([], cell, [...locations.map((one) => one.cell), MANIFEST]));
}

async function findInPlace(
  { files }: PublishedOutput,
  place: OutputLocation,
  names: readonly string[],
): Promise<Result<OutputPart, string>> {
  const volume = files(place);
  const found = await findBelow(volume, place.path, names);
  if (!found.ok) return found;
  if (found.value.kind === 'file') return ok({ kind: 'file', volume, entry: found.value.entry });
  const directory = { ...place, cell: '', path: found.value.path };
  return ok({ kind: 'dir', output: { locations: [directory], manifest: undefined, files: () => volume } });
}

function textFile(path: string, text: string): OutputPart {
  const bytes = Buffer.from(text);
  const read = async () =>
    (async function* () {
      yield bytes;
    })();
  return { kind: 'file', volume: { read }, entry: { path, kind: 'file', size: bytes.length, modifiedAt: 0 } };
}
