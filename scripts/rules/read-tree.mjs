import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_TEXT_BYTES = 2 ** 20;

/** The files of the checkout that git does not ignore, with the lines of those that are text. */
export function readTree(root) {
  const { stdout, status } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`cannot list the files of ${root}: git ls-files failed`);
  const paths = [...new Set(stdout.split('\0'))].filter((path) => path !== '' && existsSync(join(root, path))).sort();
  return { root, files: paths.map((path) => readOne(root, path)).filter((file) => file !== undefined) };
}

function readOne(root, path) {
  const { size } = statSync(join(root, path));
  if (size > MAX_TEXT_BYTES) return { path, lines: [] };
  const text = readFileSync(join(root, path), 'utf8');
  return { path, lines: text.includes('\0') ? [] : text.replace(/\n$/, '').split('\n') };
}

/** All matches of `pattern` as faults, line by line. */
export function findLines({ path, lines }, pattern, message) {
  return lines.flatMap((text, i) => (pattern.test(text) ? [{ file: path, line: i + 1, message }] : []));
}
