import { access, writeFile } from 'node:fs/promises';
import type { Launch } from '../engine.ts';
import { findNativeProgram } from '../native-program.ts';
import { mountListPath, recordPath } from './docker-records.ts';
import type { HeldSource } from './docker-source.ts';

/** Where containers find it; its source has the two other paths. */
const PLACE = '/.sluice';

/** With the longest mount points these take half of what the command line and the environment may have, 2 MiB. */
const PAIRS_AT_MOST = 250;

/** Path of the program that containers start with, undefined where it was neither compiled nor installed. */
export async function findFirstProcess(path = findNativeProgram('first-process')): Promise<string | undefined> {
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/** How the first process gets into a container: three files or four, and the command line that tells it what to look at. */
export interface FirstProcessParts {
  readonly mounts: readonly Readonly<Record<string, unknown>>[];
  readonly entrypoint: readonly string[];
}

/** `path` is the program's; `sources` are what the volumes' mount points must show before the command may start. */
export function firstProcessParts(path: string, { launch, sources }: FirstProcessOptions): FirstProcessParts {
  const bind = (source: string, name: string, isReadOnly = false) => ({
    Type: 'bind',
    Source: source,
    Target: `${PLACE}/${name}`,
    ReadOnly: isReadOnly,
  });
  return {
    mounts: [
      bind(path, 'first-process', true),
      bind(recordPath(launch.directory), 'record'),
      bind(launch.logPath, 'log'),
      ...(isListed(sources) ? [bind(mountListPath(launch.directory), 'mounts', true)] : []),
    ],
    entrypoint: [`${PLACE}/first-process`, ...limitOf(launch), ...(isListed(sources) ? ['@'] : pairs(sources)), '--'],
  };
}

/** Writes what the mount points must show where that would not fit the command line. */
export async function writeMountList({ launch, sources }: FirstProcessOptions): Promise<void> {
  if (!isListed(sources)) return;
  const text = pairs(sources).map((word) => `${word}\0`);
  await writeFile(mountListPath(launch.directory), text.join(''), { mode: 0o644 });
}

function limitOf({ logLimitBytes }: Launch): string[] {
  return logLimitBytes === undefined ? [] : [`=${logLimitBytes}`];
}

function isListed(sources: readonly HeldSource[]): boolean {
  return sources.length > PAIRS_AT_MOST;
}

function pairs(sources: readonly HeldSource[]): string[] {
  return sources.flatMap(({ identity, mount }) => [identity, mount.target]);
}

interface FirstProcessOptions {
  readonly launch: Launch;
  readonly sources: readonly HeldSource[];
}
