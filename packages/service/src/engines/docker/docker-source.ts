import { constants } from 'node:fs';
import { open, readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type Mount } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';

/** Linux: a handle to a place in the tree, which neither reads nor needs the right to. Node does not name it. */
const O_PATH = 0o10_000_000;

/** What a mount shall show: where the daemon finds it, and which file that was when we looked. */
export interface HeldSource {
  readonly mount: Mount;
  readonly path: string;
  /** `<device>:<inode>`, of a file that lay beneath the volume's root. */
  readonly identity: string;
  /** Of a read-only mount: where something else is mounted in it on this machine, from `/` on, outer ones first. */
  readonly submounts: readonly string[];
}

/**
 * Finds a mount beneath its volume's root, refused when links lead out. The file is opened first and asked where it is
 * then, hence `identity` never is that of a file outside. The daemon resolves `path` once more by itself: whether it
 * came to the same file is for the first process to see.
 */
export async function resolveSources(mounts: readonly Mount[]): Promise<HeldSource[]> {
  const mounted = mounts.some(({ readOnly }) => readOnly) ? await readMountPoints() : [];
  const found = new Map<Mount, HeldSource>();
  await forEachLimit(mounts, async (mount) => {
    found.set(mount, await resolveSource(mount, mounted));
  });
  return mounts.map((mount) => found.get(mount)!);
}

async function resolveSource(mount: Mount, mounted: readonly string[]): Promise<HeldSource> {
  const root = await realpath(mount.root);
  const found = await lookAt(join(root, mount.subPath)).catch(() => undefined);
  if (found === undefined || !`${found.path}/`.startsWith(`${root}/`)) {
    throw new EngineError('REFUSED', `${mount.subPath} of the volume cannot be mounted: it is absent or leads out`);
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
