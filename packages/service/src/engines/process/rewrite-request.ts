import { copyFile, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError } from '../engine.ts';
import { exists } from '../exists.ts';
import type { LaunchRequest } from './launcher.ts';
import type { PlannedMount } from './mount-plan.ts';

/** Limits for copying a directory of scripts; a larger one is used in place. */
const SCRIPTS_AT_MOST = { files: 1000, bytes: 16 * 2 ** 20 };

/**
 * Converts a request into one without mounts: mount points are replaced by host paths in arguments and environment, and in a
 * copy of each mounted directory that contains a script named by an argument. Throws `EngineError` `REJECTED`.
 */
export async function rewriteRequest(request: LaunchRequest): Promise<LaunchRequest> {
  const places = new Map<string, string>([['/tmp', join(request.directory, 'tmp')]]);
  for (const mount of request.mounts) {
    rejectInside(mount.target, places);
    places.set(mount.target, await findSource(mount));
  }
  const plain = createRewriter(places);
  for (const [index, mount] of request.mounts.entries()) {
    const source = places.get(mount.target);
    if (source === undefined || mount.kind === 'file' || !(await namesScript(request.argv, mount.target, source)))
      continue;
    const files = await listFiles(source);
    if (files === undefined) continue;
    const copy = join(request.directory, 'scripts', String(index));
    for (const file of files) await copyRewritten({ from: join(source, file), to: join(copy, file), rewrite: plain });
    places.set(mount.target, copy);
  }
  for (const { target } of request.mounts)
    await makeListed(target, { places, points: join(request.directory, 'points') });
  const rewrite = createRewriter(places);
  return {
    ...request,
    mounts: [],
    workingDirectory: rewrite(request.workingDirectory),
    argv: request.argv.map(rewrite),
    env: [...request.env.map(rewrite), `SLUICE_CONTAINER=${request.directory}`],
  };
}

/**
 * Makes a mount point visible in its parent directory if the machine does not have that directory: a directory of links
 * takes its place. Directories of the machine or of a volume are not changed.
 */
async function makeListed(target: string, to: { places: Map<string, string>; points: string }): Promise<void> {
  const { places, points } = to;
  const names = target.split('/').slice(1);
  for (let length = 1; length < names.length; length++) {
    const above = `/${names.slice(0, length).join('/')}`;
    const place = places.get(above);
    if (place !== undefined && place !== points + above) return;
    if (place === undefined && (await exists(above))) continue;
    await mkdir(points + above, { recursive: true });
    places.set(above, points + above);
  }
  const source = places.get(target);
  if (
    names.length > 1 &&
    source !== undefined &&
    source !== points + target &&
    places.has(`/${names.slice(0, -1).join('/')}`)
  ) {
    await symlink(source, points + target);
  }
}

/** A program that lists the outer directory would silently miss the inner mount, for example reused cells among new ones. */
function rejectInside(target: string, places: ReadonlyMap<string, string>): void {
  const outer = [...places.keys()].find((place) => place !== '/tmp' && target.startsWith(`${place}/`));
  if (outer === undefined) return;
  const advice = 'install a C compiler (gcc, libc6-dev) and run npm run setup, or allow user namespaces';
  throw new EngineError(
    'REJECTED',
    `could not mount at '${target}': it is inside the mount point '${outer}', which needs namespaces or the compiled launcher; ${advice}`,
  );
}

/** Returns a function that replaces complete mount points by their paths, longest match first. */
export function createRewriter(places: ReadonlyMap<string, string>): (text: string) => string {
  const names = [...places.keys()].sort((one, other) => other.length - one.length);
  const escaped = names.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_./-])(?:${escaped.join('|')})(?![\\p{L}\\p{N}_.-])`, 'gu');
  return (text) => text.replace(pattern, (name) => places.get(name) ?? name);
}

/** Resolved once, at the start; a link that is changed later is not checked again. */
async function findSource({ root, subPath, kind, target }: PlannedMount): Promise<string> {
  const reject = (why: string) => new EngineError('REJECTED', `could not mount '${subPath}' at '${target}': ${why}`);
  const above = await realpath(root).catch(() => undefined);
  const source = await realpath(join(root, subPath)).catch(() => undefined);
  if (above === undefined || source === undefined) throw reject(`no such ${kind}`);
  if (source !== above && !source.startsWith(`${above}/`)) throw reject('it leads out of its volume');
  const status = await stat(source);
  if (kind === 'dir' ? !status.isDirectory() : !status.isFile()) throw reject(`it is not a ${kind}`);
  return source;
}

async function namesScript(argv: readonly string[], target: string, source: string): Promise<boolean> {
  for (const word of argv) {
    if (!word.startsWith(`${target}/`)) continue;
    const path = join(source, word.slice(target.length));
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() === true && status.size <= SCRIPTS_AT_MOST.bytes && isText(await readFile(path))) return true;
  }
  return false;
}

function isText(content: Buffer): boolean {
  return !content.includes(0);
}

/** Paths of all files beneath `directory`; undefined if they exceed the limits for copying. */
async function listFiles(directory: string): Promise<string[] | undefined> {
  const found: string[] = [];
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const status = await stat(path).catch(() => undefined);
    if (status?.isFile() !== true) continue;
    bytes += status.size;
    found.push(path.slice(directory.length + 1));
    if (found.length > SCRIPTS_AT_MOST.files || bytes > SCRIPTS_AT_MOST.bytes) return undefined;
  }
  return found;
}

async function copyRewritten(file: { from: string; to: string; rewrite: (text: string) => string }): Promise<void> {
  const { from, to, rewrite } = file;
  await mkdir(join(to, '..'), { recursive: true });
  const content = await readFile(from);
  const text = content.toString();
  // Content that is not UTF-8 would be changed by decoding.
  if (!isText(content) || !Buffer.from(text).equals(content)) return await copyFile(from, to);
  await writeFile(to, rewrite(text), { mode: (await stat(from)).mode & 0o777 });
}
