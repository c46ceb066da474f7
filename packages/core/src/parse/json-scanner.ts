import { describeLargeInteger, isLargeInteger } from '../model/large-integer.ts';
import type { Spot } from './source-document.ts';

/** What is wrong with a JSON text, and where. */
export interface JsonFault {
  readonly code: 'syntax' | 'duplicate-key' | 'too-deep' | 'bad-number';
  readonly message: string;
  readonly start: number;
  readonly end: number;
  /** The first definition, of a duplicate key. */
  readonly first?: { readonly start: number; readonly end: number };
}

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** Of an object, by key; of an array, by index as text. */
  readonly entries?: ReadonlyMap<string, JsonEntry>;
}

interface JsonEntry {
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: JsonNode;
}

/**
 * A strict JSON parser that keeps positions instead of values. It runs only for a file in which something is at fault:
 * `JSON.parse` is five times as fast and knows no places.
 */
export function scanJson(text: string, maxDepth: number): { root: JsonNode | undefined; faults: readonly JsonFault[] } {
  const scanner = new JsonScanner(text, maxDepth);
  try {
    return { root: scanner.document(), faults: scanner.faults };
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return { root: undefined, faults: [...scanner.faults, error.fault] };
  }
}

/** Ends the scan: after a fault of syntax nothing is certain. */
class Stop extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super(fault.message);
    this.fault = fault;
  }
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const SPACE = /[ \t\n\r]*/y;

class JsonScanner {
  readonly faults: JsonFault[] = [];
  readonly #text: string;
  readonly #maxDepth: number;
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): JsonNode {
    const root = this.#value(1);
    this.#space();
    if (this.#at < this.#text.length) this.#stop('text after the end of the document');
    return root;
  }

  #value(depth: number): JsonNode {
    this.#space();
    const start = this.#at;
    const first = this.#text[start];
    if (depth > this.#maxDepth) this.#stop(`nested deeper than ${this.#maxDepth} levels`, 'too-deep');
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') this.#string();
    else if (!this.#take(WORD)) this.#stop(first === undefined ? 'the file ends too early' : 'not a JSON value');
    this.#noteLarge(start);
    return { start, end: this.#at };
  }

  #noteLarge(start: number): void {
    const number = this.#at - start < 16 ? '' : this.#text.slice(start, this.#at);
    if (number === '' || !isLargeInteger(number)) return;
    this.faults.push({ code: 'bad-number', message: describeLargeInteger(number), start, end: this.#at });
  }

  #object(depth: number): JsonNode {
    const start = this.#at++;
    const entries = new Map<string, JsonEntry>();
    if (this.#ends('}')) return { start, end: this.#at, entries };
    do {
      this.#space();
      const keyStart = this.#at;
      if (this.#text[keyStart] !== '"') this.#stop('a key in double quotes is wanted here');
      const key = this.#string();
      const keyEnd = this.#at;
      this.#noteDuplicate(key, { known: entries.get(key), start: keyStart });
      this.#space();
      if (this.#text[this.#at] !== ':') this.#stop('a `:` is wanted after the key');
      this.#at++;
      entries.set(key, { keyStart, keyEnd, value: this.#value(depth + 1) });
    } while (this.#continues('}'));
    return { start, end: this.#at, entries };
  }

  #array(depth: number): JsonNode {
    const start = this.#at++;
    const entries = new Map<string, JsonEntry>();
    if (this.#ends(']')) return { start, end: this.#at, entries };
    do {
      const value = this.#value(depth + 1);
      entries.set(String(entries.size), { keyStart: value.start, keyEnd: value.end, value });
    } while (this.#continues(']'));
    return { start, end: this.#at, entries };
  }

  #noteDuplicate(key: string, { known, start }: { known: JsonEntry | undefined; start: number }): void {
    if (known === undefined) return;
    const message = `the key \`${key}\` stands twice in one map`;
    const first = { start: known.keyStart, end: known.keyEnd };
    this.faults.push({ code: 'duplicate-key', message, start, end: this.#at, first });
  }

  #ends(close: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== close) return false;
    this.#at++;
    return true;
  }

  #continues(close: string): boolean {
    if (this.#ends(close)) return false;
    if (this.#text[this.#at] !== ',') this.#stop(`a \`,\` or \`${close}\` is wanted here`);
    this.#at++;
    return true;
  }

  #string(): string {
    const start = this.#at;
    if (!this.#skipString()) {
      this.#at = start;
      this.#stop('a text that is not closed, or holds a control character or a bad escape');
    }
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  /** Sign by sign: a regular expression for the whole text runs out of stack on one of twenty million characters. */
  #skipString(): boolean {
    if (this.#text[this.#at] !== '"') return false;
    for (this.#at++; this.#at < this.#text.length; ) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x22) {
        this.#at++;
        return true;
      }
      if (code < 0x20) return false;
      if (code !== 0x5c) this.#at++;
      else if (!this.#take(ESCAPE)) return false;
    }
    return false;
  }

  #space(): void {
    this.#take(SPACE);
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  #stop(message: string, code: JsonFault['code'] = 'syntax'): never {
    throw new Stop({ code, message, start: this.#at, end: Math.min(this.#at + 1, this.#text.length) });
  }
}

/** Offsets of the nearest node that exists on the way to `spot`. */
export function findInJson(root: JsonNode, spot: Spot): { start: number; end: number } {
  let node = root;
  let found: { start: number; end: number } = { start: root.start, end: root.start + 1 };
  for (const [depth, key] of spot.path.entries()) {
    const entry = node.entries?.get(String(key));
    if (entry === undefined) return found;
    const onKey = (depth === spot.path.length - 1 && spot.on === 'key') || entry.value.entries !== undefined;
    found = onKey ? { start: entry.keyStart, end: Math.max(entry.keyEnd, entry.keyStart + 1) } : entry.value;
    node = entry.value;
  }
  return found;
}
