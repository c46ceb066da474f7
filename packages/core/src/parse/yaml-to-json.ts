import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Json } from '../model/json.ts';
import { describeLargeInteger, isLargeInteger } from '../model/large-integer.ts';
import { MAX_ALIASED_VALUES, MAX_VALUES } from './limits.ts';

/** A fault with its offsets in the text. */
export interface ConversionFault {
  readonly code: 'alias' | 'bad-key' | 'too-large' | 'bad-merge' | 'bad-number' | 'duplicate-key';
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** The value of a document, and the targets of its aliases. */
export interface YamlValue {
  readonly value: Json;
  /** By alias: the node that it refers to, to locate values. */
  readonly targets: ReadonlyMap<Node, Node>;
  readonly faults: readonly ConversionFault[];
}

/**
 * Resolves the values of a YAML document, aliases and merge keys included. The expanded size is limited, so that a few
 * lines of nested aliases cannot stand for billions of values. Aliased values are shared, never copied.
 */
export function yamlToJson(document: Document.Parsed): YamlValue {
  const conversion = new Conversion();
  try {
    return { value: conversion.convert(document.contents), targets: conversion.targets, faults: conversion.faults };
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { value: null, targets: conversion.targets, faults: conversion.faults };
  }
}

class TooLarge extends Error {}

interface Anchored {
  readonly node: Node;
  readonly value: Json;
  readonly size: number;
}

class Conversion {
  readonly targets = new Map<Node, Node>();
  readonly faults: ConversionFault[] = [];
  readonly #anchors = new Map<string, Anchored>();
  /** Number of values so far; those behind aliases count each time. */
  #size = 0;
  #aliased = 0;

  convert(node: unknown): Json {
    this.#grow(1, node);
    const before = this.#size;
    if (isAlias(node)) return this.#alias(node.source, node);
    let value: Json = null;
    if (isScalar(node)) value = this.#scalar(node.value, node);
    else if (isSeq(node)) value = node.items.map((item) => this.convert(item));
    else if (isMap(node)) value = this.#map(node);
    const anchor = (node as { anchor?: string } | null | undefined)?.anchor;
    // An anchor is defined only after its value, so that no value can contain itself.
    if (anchor !== undefined) this.#anchors.set(anchor, { node: node as Node, value, size: this.#size - before });
    return value;
  }

  #alias(name: string, node: Node): Json {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      this.#report('alias', `alias \`*${name}\` refers to no anchor that is complete before it`, node);
      return null;
    }
    this.#aliased += target.size;
    if (this.#aliased > MAX_ALIASED_VALUES) this.#tooLarge(MAX_ALIASED_VALUES, node);
    this.#grow(target.size, node);
    this.targets.set(node, target.node);
    return target.value;
  }

  #scalar(value: unknown, node: unknown): Json {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.#report('bad-number', 'not a finite number', node);
      return null;
    }
    const source = typeof value === 'number' ? ((node as { source?: string }).source ?? '') : '';
    if (isLargeInteger(source)) {
      this.#report('bad-number', describeLargeInteger(source), node);
      return null;
    }
    if (typeof value === 'bigint') return Number(value);
    return (value ?? null) as Json;
  }

  #map(node: YAMLMap): Json {
    const result: Record<string, Json> = {};
    const merged: Record<string, Json>[] = [];
    for (const pair of node.items as Pair[]) {
      const key = keyText(pair.key);
      if (key === undefined) {
        this.#report('bad-key', 'keys must be strings', pair.key ?? node);
        continue;
      }
      const value = this.convert(pair.value);
      if (key === '<<' && (pair.key as { type?: string }).type === 'PLAIN') {
        merged.push(...this.#mergeSources(value, pair.value));
        continue;
      }
      if (Object.hasOwn(result, key)) {
        this.#report('duplicate-key', `duplicate key \`${key}\``, pair.key);
      }
      setOwn(result, key, value);
    }
    for (const source of merged) {
      for (const key of Object.keys(source)) {
        if (!Object.hasOwn(result, key)) setOwn(result, key, source[key] ?? null);
      }
    }
    return result;
  }

  #mergeSources(value: Json, node: unknown): Record<string, Json>[] {
    const list = Array.isArray(value) ? value : [value];
    if (list.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))) {
      return list as Record<string, Json>[];
    }
    this.#report('bad-merge', '`<<` expects a map or a list of maps', node);
    return [];
  }

  #grow(by: number, node: unknown): void {
    this.#size += by;
    if (this.#size > MAX_VALUES) this.#tooLarge(MAX_VALUES, node);
  }

  #tooLarge(bound: number, node: unknown): never {
    this.#report('too-large', `more than ${bound} values after the expansion of aliases`, node);
    throw new TooLarge();
  }

  #report(code: ConversionFault['code'], message: string, node: unknown): void {
    const range = (node as { range?: readonly number[] } | undefined)?.range;
    this.faults.push({ code, message, start: range?.[0] ?? 0, end: range?.[1] ?? 1 });
  }
}

/** The text of a key; numbers and booleans are keys as written: `1: x` has the key `1`. */
export function keyText(key: unknown): string | undefined {
  if (typeof key === 'string') return key;
  if (!isScalar(key)) return undefined;
  if (typeof key.value === 'string') return key.value;
  return key.source ?? String(key.value);
}

/** Creates an own key even for `__proto__`, never the prototype. */
function setOwn(target: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
