import { type FileEntry, printableName, type VolumeFiles } from '@sluice/client';
import { describeUnknown, fail, ok, type Result } from '@sluice/core';

/** As for the kernel: more are a loop. */
const MAX_LINKS = 40;
const NAMED = 10;
const LEADS_OUT = 'a link in this path leads out of the output';

/** A directory of a volume, or a file in one. */
export type FoundBelow =
  | { readonly kind: 'dir'; readonly path: string }
  | { readonly kind: 'file'; readonly entry: FileEntry };

/**
 * Finds what `names` leads to below the directory `from` of a volume. Links are followed as long as they stay below `from`,
 * so the path of the result contains none. Fails with a reason that names what exists nearby. Throws `ServiceError`.
 */
export async function findBelow(
  volume: Pick<VolumeFiles, 'list'>,
  from: string,
  names: readonly string[],
): Promise<Result<FoundBelow, string>> {
  const left = [...names];
  const at: string[] = [];
  const pathOf = (more: readonly string[]) => [from, ...more].filter((part) => part !== '').join('/');
  for (let links = 0; ; ) {
    const name = left.shift();
    if (name === undefined) return ok({ kind: 'dir', path: pathOf(at) });
    if (name === '..') {
      if (at.pop() === undefined) return fail(LEADS_OUT);
      continue;
    }
    const entries = new Map((await volume.list(pathOf(at))).map((entry) => [lastName(entry.path), entry]));
    const entry = entries.get(name);
    if (entry === undefined) return fail(describeMissing(at, name, [...entries.keys()]));
    if (entry.link !== undefined) {
      links += 1;
      if (links > MAX_LINKS) return fail('a link in this path leads to itself');
      if (entry.link.startsWith('/')) return fail(LEADS_OUT);
      left.unshift(...entry.link.split('/').filter((part) => part !== '' && part !== '.'));
      continue;
    }
    at.push(name);
    if (entry.kind === 'dir') continue;
    if (left.length === 0) return ok({ kind: 'file', entry: { ...entry, path: pathOf(at) } });
    return fail(`${printableName(at.join('/'))} is a file`);
  }
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `sub has no fil; did you mean ...`, or some of the names that exist. */
export function describeMissing(at: readonly string[], name: string, names: readonly string[]): string {
  const directory = at.length === 0 ? 'the output' : printableName(at.join('/'));
  const unknown = describeUnknown(printableName(name), names.map(printableName));
  if (names.length === 0) return `${directory} is empty`;
  if (unknown !== printableName(name)) return `${directory} has no ${unknown}`;
  const some = names.slice(0, NAMED).map(printableName).join(', ');
  return `${directory} has no ${unknown}; it contains ${some} and ${names.length - NAMED} more`;
}
