import { type ContainerService, isServiceError, type VolumeFiles } from '@sluice/client';
import type { RunFollower } from '@sluice/home';
import type { DataLocation } from '@sluice/run';
import { openVolume } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { fileList } from '../schemas/cell-replies.ts';
import { type DataPort, unknownPort, unwrittenPort } from './data-port.ts';
import { findPort } from './describe-cell.ts';
import { BY_NAME, type Page, pageAfter } from './page-query.ts';
import { toTime } from './to-time.ts';

/** A file that can be read by range. */
export interface ReadableFile {
  readonly name: string;
  readonly size: number;
  read(range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

/** A directory or a file of an input or output. */
export interface FilePlace {
  readonly step: number;
  readonly cell: number;
  readonly port: DataPort;
  /** Relative to the input or output; of an input from many cells, the first segment is the cell. */
  readonly path: string;
}

interface Directory {
  readonly path: string;
  readonly entries: z.input<typeof fileList>['entries'];
}

interface Context {
  readonly home: string;
  readonly service: ContainerService;
  readonly run: RunFollower;
}

/** Lists a directory, or opens a file, of an input or output. Throws `ApiError`. */
export async function readFiles(
  context: Context,
  at: FilePlace,
): Promise<{ readonly list: Directory } | { readonly file: ReadableFile }> {
  if (at.path.split('/').some((part) => part === '.' || part === '..')) throw missing(at.path);
  const places = findPort(context.run, at);
  if (places === undefined) throw unknownPort(at.port, 'the step');
  if (places.length === 0) throw unwrittenPort(at.port, 'the step');
  const [first, ...rest] = at.path.split('/').filter((part) => part !== '');
  if (places.length === 1 && places[0]!.cell === '') return readPlace(context, places[0]!.place, { path: at.path });
  if (first === undefined) {
    const entries = places.map(({ cell }) => ({ name: cell, kind: 'directory' as const }));
    return { list: { path: '', entries } };
  }
  const found = places.find(({ cell }) => cell === first);
  if (found === undefined) throw missing(at.path);
  return readPlace(context, found.place, { path: rest.join('/'), prefix: first });
}

/** A page of a directory by name, since a directory is listed in any order. */
export function pageEntries({ path, entries }: Directory, page: Page): z.input<typeof fileList> {
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const { shown, next } = pageAfter(sorted, page, BY_NAME);
  return { path, entries: shown, ...next };
}

async function readPlace(
  { home, service }: Context,
  place: DataLocation,
  { path, prefix = '' }: { path: string; prefix?: string },
): Promise<Awaited<ReturnType<typeof readFiles>>> {
  const opened = await openVolume({ home, service, volume: place });
  if (!opened.ok) throw new ApiError(409, 'NO_LOGIN', `could not read the files: ${opened.error}`);
  const files = opened.value;
  const full = join(place.path, path);
  try {
    const entry = await files.stat(full);
    if (entry === undefined) throw missing(path);
    if (entry.kind === 'file') return { file: describeFile(files, full, entry.size) };
    return { list: { path: join(prefix, path), entries: (await files.list(full)).map(describeEntry) } };
  } catch (error) {
    if (isServiceError(error, 'NOT_FOUND', 'INVALID_ARGUMENT')) throw missing(path);
    if (isServiceError(error)) throw new ApiError(503, 'SERVICE_UNREACHABLE', error.message);
    throw error;
  }
}

function describeFile(files: VolumeFiles, path: string, size: number): ReadableFile {
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    size,
    async *read(range) {
      yield* await files.read(path, range);
    },
  };
}

function describeEntry({ path, kind, size, modifiedAt }: Awaited<ReturnType<VolumeFiles['list']>>[number]) {
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    kind: kind === 'dir' ? ('directory' as const) : kind,
    ...(kind === 'file' && { bytes: size }),
    modifiedAt: toTime(modifiedAt),
  };
}

function join(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('/');
}

function missing(path: string): ApiError {
  return new ApiError(404, 'FILE_NOT_FOUND', `there is no file or directory ${JSON.stringify(path)} here`);
}
