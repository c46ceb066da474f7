import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ContainerService, createLogReading, isServiceError, type KnownLog, type LogCut } from '@sluice/client';
import type { ContainerView } from '@sluice/run';
import { ApiError } from '../errors/api-error.ts';
import type { LogSpool } from './log-spool.ts';
import type { ReadableFile } from './read-files.ts';

/** A log as it is now. */
export interface ReadableLog extends ReadableFile {
  /** What names it, also when it has grown; another one after it was cut. */
  readonly key: string;
  /** The last cut of the log, if the service says that. */
  readonly cut?: LogCut | undefined;
  /** The bytes from `start` on, until the attempt has ended. */
  follow(start: number, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Where the logs of a run are. */
export interface LogPlace {
  readonly service: ContainerService;
  /** For services that send a log only from its beginning. */
  readonly copies: LogSpool;
  /** Of the run. */
  readonly directory: string;
}

/** Opens the log of an attempt: that of the service, or the archived one if the service has deleted it. Throws `ApiError`. */
export async function openLog(place: LogPlace, container: ContainerView): Promise<ReadableLog> {
  try {
    return await openOfService(place, container);
  } catch (error) {
    const isGone = isServiceError(error, 'NOT_FOUND');
    if (isGone && container.logFile !== undefined) return openArchive(join(place.directory, container.logFile));
    if (isGone) throw new ApiError(404, 'LOG_NOT_FOUND', 'there is no log: the service has deleted the container');
    throw isServiceError(error) ? new ApiError(503, 'SERVICE_UNREACHABLE', error.message) : error;
  }
}

async function openOfService({ service, copies }: LogPlace, container: ContainerView): Promise<ReadableLog> {
  const { clusterId, accountId, containerId, endedAt } = container;
  const ref = { clusterID: clusterId, accountID: accountId, id: containerId };
  const keyOf = (cut: LogCut | undefined) => JSON.stringify({ ...ref, cut: cut?.id });
  const opened = await service.containers.openLog?.(ref);
  if (opened !== undefined) {
    const { size, cut } = opened;
    return {
      ...{ key: keyOf(cut), name: `${containerId}.log`, size, cut },
      read: (range) => opened.read(range),
      follow: (start, signal) => opened.read({ start, follow: true, signal }),
    };
  }
  const copy = await copies.open({
    ...{ ref, hasEnded: endedAt !== undefined },
    read: (onCut) => service.containers.logs(ref, { onCut }),
  });
  const { cut } = copy;
  return {
    ...{ ...copy, key: keyOf(cut) },
    follow: (start, signal) =>
      followFrom({ size: start, cut }, (onCut) => service.containers.logs(ref, { follow: true, signal, onCut })),
  };
}

async function openArchive(path: string): Promise<ReadableLog> {
  const { size } = await stat(path);
  return {
    ...{ key: path, name: 'archived.log', size },
    read: ({ start, end }) => createReadStream(path, { start, end: end - 1 }),
    follow: (start, signal) => createReadStream(path, { start, signal }),
  };
}

/** The bytes after those that are known. */
async function* followFrom(
  known: KnownLog,
  read: (onCut: (cut: LogCut | undefined) => void) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const reading = createLogReading(known);
  for await (const block of read((cut) => reading.note(cut))) {
    const rest = reading.take(block);
    if (rest.length > 0) yield rest;
  }
}
