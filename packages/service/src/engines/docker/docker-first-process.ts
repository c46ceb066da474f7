import { access, writeFile } from 'node:fs/promises';
import type { Launch } from '../engine.ts';
import { findNativeProgram } from '../native-program.ts';
import { mountListPath, recordPath } from './docker-records.ts';
import type { HeldSource } from './docker-source.ts';

/** Directory of our files inside containers; `first-process/*.c` contains the other paths. */
const PLACE = '/.sluice';

/** With mount points of maximum length, these fill half of the 2 MiB for command line and environment. */
const PAIRS_AT_MOST = 250;

/** Path of the program that containers start with; undefined if it was neither compiled nor installed. */
export async function findFirstProcess(path = findNativeProgram('first-process')): Promise<string | undefined> {
  return access(path).then(
    () => path,
    () => undefined,
  );
}

/**
 * The parts of a container's configuration that run the first process: three or four files, and a command line that names
 * what it checks.
 */
export interface FirstProcessParts {
  readonly mounts: readonly Readonly<Record<string, unknown>>[];
  readonly entrypoint: readonly string[];
}

/** `path` is the program's path; it starts the command only if each mount point shows its entry of `sources`. */
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

/** Writes the expected mount points into a file if they do not fit the command line. */
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
