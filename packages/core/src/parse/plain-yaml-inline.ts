import type { Json } from '../model/json.ts';

/** A value whose meaning is certain. */
export interface Inline {
  readonly value: Json;
}

const MAX_FLOW_DEPTH = 20;
/** Text without characters that have another meaning in YAML. */
const PLAIN = /^(?:[A-Za-z0-9_./$(+~^]|-(?=[^ ]))[^\n]*$/;
const FLOW_PLAIN = /^(?:[A-Za-z0-9_./$(+~^]|-(?=[^ ,\]}]))(?:[^,[\]{}:#\n]|:(?=[\w./-]))*/;
const FLOW_KEY = /^([A-Za-z_$][\w.$/-]{0,200}|"[^"\\]{1,200}"|'[^']{1,200}'): +/;
const DOUBLE = /^"((?:[^"\\]|\\["\\/nt])*)"/;
const SINGLE = /^'((?:[^']|'')*)'/;
const REST = /^(?: *| +#.*)$/;
const NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/;
/** Numbers in other notations, and text that resembles numbers. */
const NUMBER_LIKE = /^[-+.0-9][0-9a-fA-FoOxX+._-]*$|^[-+]?\.(?:inf|nan)$/i;
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['~', null],
  ...['null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);

/** Reads a value that ends on its line, possibly followed by a comment. Undefined if its meaning is not certain. */
export function readInline(text: string): Inline | undefined {
  const [first] = text;
  if (first === '[' || first === '{') {
    const flow = new FlowReader(text);
    const found = flow.value(0);
    return found && REST.test(flow.rest) ? found : undefined;
  }
  if (first === '"' || first === "'") {
    const quoted = readQuoted(text);
    return quoted && REST.test(text.slice(quoted.length)) ? quoted : undefined;
  }
  const comment = text.indexOf(' #');
  const plain = (comment < 0 ? text : text.slice(0, comment)).trimEnd();
  if (!PLAIN.test(plain) || plain.includes(': ') || plain.endsWith(':')) return undefined;
  return resolvePlain(plain);
}

function readQuoted(text: string): (Inline & { readonly length: number }) | undefined {
  const double = DOUBLE.exec(text);
  if (double) return { value: JSON.parse(double[0]) as string, length: double[0].length };
  const single = SINGLE.exec(text);
  return single ? { value: single[1]!.replaceAll("''", "'"), length: single[0].length } : undefined;
}

/** By the core schema of YAML 1.2. */
function resolvePlain(text: string): Inline | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return { value: word };
  if (NUMBER.test(text)) return { value: Number(text) };
  if (NUMBER_LIKE.test(text) && /[0-9]|inf|nan/i.test(text)) return undefined;
  return { value: text };
}

class FlowReader {
  rest: string;

  constructor(text: string) {
    this.rest = text;
  }

  value(depth: number): Inline | undefined {
    if (depth > MAX_FLOW_DEPTH) return undefined;
    const [first] = this.rest;
    if (first === '[') return this.#list(depth);
    if (first === '{') return this.#map(depth);
    if (first === '"' || first === "'") {
      const quoted = readQuoted(this.rest);
      if (quoted) this.#skip(quoted.length);
      return quoted;
    }
    const plain = FLOW_PLAIN.exec(this.rest)?.[0];
    if (plain === undefined) return undefined;
    this.#skip(plain.length);
    return resolvePlain(plain.trimEnd());
  }

  #list(depth: number): Inline | undefined {
    const list: Json[] = [];
    this.#skip(1);
    if (this.#take(']')) return { value: list };
    for (;;) {
      const item = this.value(depth + 1);
      if (!item) return undefined;
      list.push(item.value);
      if (this.#take(']')) return { value: list };
      if (!this.#take(',')) return undefined;
    }
  }

  #map(depth: number): Inline | undefined {
    const map: Record<string, Json> = {};
    this.#skip(1);
    if (this.#take('}')) return { value: map };
    for (;;) {
      const entry = FLOW_KEY.exec(this.rest);
      if (!entry) return undefined;
      const written = entry[1]!;
      const key = written.startsWith('"') || written.startsWith("'") ? written.slice(1, -1) : written;
      if (key === '__proto__' || Object.hasOwn(map, key)) return undefined;
      this.#skip(entry[0].length);
      const item = this.value(depth + 1);
      if (!item) return undefined;
      map[key] = item.value;
      if (this.#take('}')) return { value: map };
      if (!this.#take(',')) return undefined;
    }
  }

  /** Skips characters and the blanks after them. */
  #skip(count: number): void {
    this.rest = this.rest.slice(count).replace(/^ +/, '');
  }

  /** Blanks after the last bracket stay, because a comment needs one before it. */
  #take(sign: string): boolean {
    const rest = this.rest.replace(/^ +/, '');
    if (!rest.startsWith(sign)) return false;
    if (sign === ',') {
      this.rest = rest;
      this.#skip(1);
    } else this.rest = rest.slice(1);
    return true;
  }
}
