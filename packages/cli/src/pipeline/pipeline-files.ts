import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fail, MAX_FILE_CHARACTERS, ok, type Result } from '@sluice/core';
import { systemErrorCode } from '@sluice/host-system';
import { isBelow } from './is-below.ts';

/** Reads the files of one pipeline. An error says why a file was not read and what to do. */
export interface PipelineFiles {
  /** Reads the file that the user named, from anywhere; it may be a pipe of the shell (`/dev/stdin`, `<(…)`). */
  readonly readMain: () => Result<string, string>;
  /** Reads a file that `include` or `uses` names; only regular files below the project's root. */
  readonly readOther: (path: string) => Result<string, string>;
}

/** The names that shells give to pipes; opening one never blocks. */
const SHELL_PIPE = /^\/dev\/(?:stdin|fd\/\d+)$/;
/** UTF-8 needs at most three bytes for each UTF-16 code unit. */
const MAX_BYTES = 3 * MAX_FILE_CHARACTERS;
const CHUNK = 1 << 20;
const NEWLINE = 10;

/**
 * The project's root is `root`, else the top of the git work tree with the main file, else the main file's directory.
 * Links are resolved before a path is compared with it. Only regular files are opened: a FIFO could block, a device
 * could be endless. Paths are relative to `cwd`.
 */
export function openPipelineFiles(
  main: string,
  { cwd, root }: { readonly cwd: string; readonly root?: string | undefined },
): PipelineFiles {
  const path = resolve(cwd, main);
  let top: string | undefined;
  return {
    readMain: () => attempt(() => (SHELL_PIPE.test(path) ? readAll(openSync(path, 'r')) : readRegular(path))),
    readOther: (other) =>
      attempt(() => {
        const real = realpathSync(resolve(cwd, other));
        top ??= realpathSync(root === undefined ? findProject(dirname(path)) : resolve(cwd, root));
        if (isBelow(real, top)) return readRegular(real);
        const advice = 'move it into the project, or name a directory that contains both with --root DIR';
        return fail(`${real} is outside the project ${top}; ${advice}`);
      }),
  };
}

function findProject(directory: string): string {
  const start = realpathSync(directory);
  for (let at = start; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return start;
  }
}

/** Checks the kind of the file before and after it is opened: it may be replaced in between. */
function readRegular(path: string): Result<string, string> {
  const strange = describeKind(statSync(path));
  if (strange !== undefined) return fail(strange);
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  const replaced = describeKind(fstatSync(descriptor));
  if (replaced === undefined) return readAll(descriptor);
  closeSync(descriptor);
  return fail(replaced);
}

function describeKind(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined;
  const kind = stats.isDirectory()
    ? 'a directory'
    : stats.isFIFO()
      ? 'a FIFO'
      : stats.isSocket()
        ? 'a socket'
        : 'a device';
  return `it is ${kind}; name a regular file`;
}

/** Reads to the end and closes. The limit also holds for files that grow meanwhile, or report no size as in /proc. */
function readAll(descriptor: number): Result<string, string> {
  try {
    const chunks: Buffer[] = [];
    const chunk = Buffer.allocUnsafe(CHUNK);
    let size = 0;
    for (;;) {
      const count = readSync(descriptor, chunk, 0, CHUNK, null);
      if (count === 0) return decode(Buffer.concat(chunks));
      size += count;
      if (size > MAX_BYTES) return fail(`it is larger than ${MAX_BYTES} bytes, the limit for pipeline files`);
      chunks.push(Buffer.from(chunk.subarray(0, count)));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Rejects invalid bytes, which a lenient decoder would replace. */
function decode(bytes: Buffer): Result<string, string> {
  if (isUtf8(bytes)) return ok(bytes.toString('utf8'));
  let line = 1;
  for (let start = 0, end = 0; end !== -1; start = end + 1, line++) {
    end = bytes.indexOf(NEWLINE, start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end))) break;
  }
  return fail(`line ${line} is not text in UTF-8; convert the file`);
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'the file does not exist'],
  ['ENOTDIR', 'a part of its path is not a directory'],
  ['EACCES', 'permission denied; check the owner of the file'],
  ['ELOOP', 'its symbolic links form a loop'],
]);

function attempt(read: () => Result<string, string>): Result<string, string> {
  try {
    return read();
  } catch (error) {
    const code = String(systemErrorCode(error));
    return fail(REASONS.get(code) ?? code);
  }
}
