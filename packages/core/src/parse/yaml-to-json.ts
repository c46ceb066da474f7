import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Json } from '../model/json.ts';
import { MAX_VALUES } from './limits.ts';

export interface ConversionFault {
  readonly code: 'alias' | 'bad-key' | 'too-large' | 'bad-merge' | 'bad-number';
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

export interface YamlValue {
  readonly value: Json;
  /** What each alias stands for, so that places can be found through it. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly faults: readonly ConversionFault[];
}

interface Anchored {
  readonly node: Node;
  readonly value: Json;
  readonly size: number;
}

/**
 * The values of a YAML document: aliases and merge keys resolved, sizes after expansion bounded, so that a few lines
 * of aliases to aliases cannot stand for billions of values. Aliased values are shared, never copied.
 */
export function yamlToJson(document: Document.Parsed): YamlValue {
  const anchors = new Map<string, Anchored>();
  const targets = new Map<Node, Node>();
  const faults: ConversionFault[] = [];
  let size = 0;

  const report = (code: ConversionFault['code'], message: string, node: unknown): void => {
    const range = (node as { range?: readonly number[] } | undefined)?.range;
    faults.push({ code, message, start: range?.[0] ?? 0, end: range?.[1] ?? 1 });
  };
  const grow = (by: number, node: unknown): void => {
    size += by;
    if (size > MAX_VALUES) {
      report('too-large', `more than ${MAX_VALUES} values once its aliases are expanded`, node);
      throw new TooLarge();
    }
  };

  const convert = (node: unknown): Json => {
    grow(1, node);
    const before = size;
    if (isAlias(node)) return fromAlias(node.source, node);
    let value: Json = null;
    if (isScalar(node)) value = scalar(node.value, node);
    else if (isSeq(node)) value = node.items.map(convert);
    else if (isMap(node)) value = map(node);
    const anchor = (node as { anchor?: string } | null | undefined)?.anchor;
    // An anchor counts from here on only: an alias inside its own value finds nothing, so no value can hold itself.
    if (anchor !== undefined) anchors.set(anchor, { node: node as Node, value, size: size - before });
    return value;
  };

  const fromAlias = (name: string, node: Node): Json => {
    const target = anchors.get(name);
    if (target === undefined) {
      report('alias', `the alias \`*${name}\` has no anchor \`&${name}\` that is complete before it`, node);
      return null;
    }
    grow(target.size, node);
    targets.set(node, target.node);
    return target.value;
  };

  const scalar = (value: unknown, node: unknown): Json => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      report('bad-number', 'the number is not finite, and a pipeline holds finite numbers only', node);
      return null;
    }
    if (typeof value === 'bigint') return Number(value);
    return (value ?? null) as Json;
  };

  const map = (node: YAMLMap): Json => {
    const result: Record<string, Json> = {};
    const merged: Record<string, Json>[] = [];
    for (const pair of node.items as Pair[]) {
      const key = keyText(pair.key);
      if (key === undefined) {
        report('bad-key', 'a key that is no plain text', pair.key ?? node);
        continue;
      }
      const value = convert(pair.value);
      if (key === '<<' && (pair.key as { type?: string }).type === 'PLAIN') merged.push(...sources(value, pair.value));
      else setOwn(result, key, value);
    }
    for (const source of merged) {
      for (const key of Object.keys(source)) {
        if (!Object.hasOwn(result, key)) setOwn(result, key, source[key] ?? null);
      }
    }
    return result;
  };

  const sources = (value: Json, node: unknown): Record<string, Json>[] => {
    const list = Array.isArray(value) ? value : [value];
    if (list.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))) {
      return list as Record<string, Json>[];
    }
    report('bad-merge', '`<<` merges maps, and this is neither a map nor a list of maps', node);
    return [];
  };

  try {
    return { value: convert(document.contents), targets, faults };
  } catch (error) {
    if (error instanceof TooLarge) return { value: null, targets, faults };
    throw error;
  }
}

class TooLarge extends Error {}

/** Numbers and booleans are keys too, as they stand: `1: x` has the key `1`. */
export function keyText(key: unknown): string | undefined {
  if (typeof key === 'string') return key;
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.source ?? String(key.value);
}

/** `__proto__` becomes an own key like every other, never the prototype. */
function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
