import { constants } from 'node:fs';
import { open, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageAccess } from '../../storage/storage-access.ts';
import { EngineError, type Mount } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';

/** Linux: opens a file only as a reference, without read permission. Node has no name for it. */
const O_PATH = 0o10_000_000;

/** The file that a mount must show: its path for the daemon, and its identity when it was resolved. */
export interface HeldSource {
  readonly mount: Mount;
  readonly path: string;
  /** `<device>:<inode>` of a file that was beneath the volume's root. */
  readonly identity: string;
  /** For a read-only mount: the mount points of this machine inside it, as paths from the source on, outer ones first. */
  readonly submounts: readonly string[];
}

/**
 * Resolves the sources of mounts. Throws `EngineError` `REJECTED` if a source does not exist or links lead out of the volume.
 * Each file is opened before its path is read, so `identity` never belongs to a file outside. The daemon resolves `path`
 * again by itself; the first process checks that it found the same file.
 */
export async function resolveSources(mounts: readonly Mount[], storage: StorageAccess): Promise<HeldSource[]> {
  const mounted = mounts.some(({ readOnly }) => readOnly) ? await readMountPoints() : [];
  const found = new Map<Mount, HeldSource>();
  await forEachLimit(mounts, async (mount) => {
    found.set(mount, await storage.inThread(() => resolveSource(mount, mounted)));
  });
  return mounts.map((mount) => found.get(mount)!);
}

async function resolveSource(mount: Mount, mounted: readonly string[]): Promise<HeldSource> {
  const root = await realpath(mount.root);
  const found = await lookAt(join(root, mount.subPath)).catch(() => undefined);
  if (found === undefined || !`${found.path}/`.startsWith(`${root}/`)) {
    throw new EngineError('REJECTED', `${mount.subPath} of the volume cannot be mounted: it is absent or leads out`);
  }
  const inner = mount.readOnly ? mounted.filter((point) => point.startsWith(`${found.path}/`)) : [];
  return { mount, ...found, submounts: inner.map((point) => point.slice(found.path.length)) };
}

/** Where something is mounted on this machine, outer mounts first. */
async function readMountPoints(): Promise<string[]> {
  const points = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').map((line) => line.split(' ')[4] ?? '');
  const plain = points.map((point) =>
    point.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
  );
  return [...new Set(plain)].sort();
}

async function lookAt(path: string): Promise<{ path: string; identity: string }> {
  const handle = await open(await realpath(path), O_PATH | constants.O_NOFOLLOW);
  try {
    const { dev, ino } = await handle.stat({ bigint: true });
    return { path: await readlink(`/proc/self/fd/${handle.fd}`), identity: `${dev}:${ino}` };
  } finally {
    await handle.close();
  }
}
