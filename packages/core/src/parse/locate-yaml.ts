import { type Document, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Path, Spot } from './source-document.ts';
import { keyText } from './yaml-to-json.ts';

/** Offsets of the nearest existing node on the path of `spot`, through aliases and merge keys. */
export function findInYaml(
  document: Document.Parsed,
  targets: ReadonlyMap<Node, Node>,
  spot: Spot,
): { start: number; end: number } {
  let node: unknown = document.contents;
  const root = rangeOf(node);
  let found = { start: root.start, end: Math.min(root.start + 1, root.end) };
  for (const [depth, key] of spot.path.entries()) {
    const real = targets.get(node as Node) ?? node;
    const last = depth === spot.path.length - 1;
    if (isSeq(real)) {
      const item = real.items[Number(key)];
      if (item === undefined) return found;
      found = rangeOf(item);
      node = item;
    } else if (isMap(real)) {
      const pair = findPair(real.items as Pair[], String(key), targets);
      if (pair === undefined) return found;
      const value = targets.get(pair.value as Node) ?? pair.value;
      const onKey = (last && spot.on === 'key') || isMap(value) || isSeq(value) || value === null;
      found = rangeOf(onKey ? pair.key : pair.value);
      node = pair.value;
    } else return found;
  }
  return found;
}

/** The text of the scalar at a path, through aliases and merge keys; undefined for other values. */
export function writtenInYaml(
  document: Document.Parsed,
  targets: ReadonlyMap<Node, Node>,
  path: Path,
): string | undefined {
  const real = (node: unknown): unknown => targets.get(node as Node) ?? node;
  let node: unknown = document.contents;
  for (const key of path) {
    if (isSeq(node)) node = real(node.items[Number(key)]);
    else if (isMap(node)) node = real(findPair(node.items as Pair[], String(key), targets)?.value);
    else return undefined;
  }
  return isScalar(node) ? node.source : undefined;
}

function findPair(items: readonly Pair[], key: string, targets: ReadonlyMap<Node, Node>): Pair | undefined {
  const own = indexOf(items).get(key);
  if (own !== undefined) return own;
  for (const pair of items) {
    if (keyText(pair.key) !== '<<') continue;
    const merged = targets.get(pair.value as Node) ?? pair.value;
    for (const item of isSeq(merged) ? merged.items : [merged]) {
      const map = targets.get(item as Node) ?? item;
      const inherited = isMap(map) ? findPair(map.items as Pair[], key, targets) : undefined;
      if (inherited !== undefined) return inherited;
    }
  }
  return undefined;
}

/** Indexed, because a file of ten thousand steps may have a fault in each. */
function indexOf(items: readonly Pair[]): ReadonlyMap<string | undefined, Pair> {
  const known = INDEXES.get(items);
  if (known !== undefined) return known;
  const index = new Map(items.map((pair) => [keyText(pair.key), pair]));
  INDEXES.set(items, index);
  return index;
}

const INDEXES = new WeakMap<readonly Pair[], ReadonlyMap<string | undefined, Pair>>();

function rangeOf(node: unknown): { start: number; end: number } {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  const start = range?.[0] ?? 0;
  return { start, end: Math.max(range?.[1] ?? start + 1, start) };
}
