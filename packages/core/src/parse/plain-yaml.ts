import type { Json } from '../model/json.ts';
import { MAX_VALUES } from './limits.ts';
import { type Inline, readInline } from './plain-yaml-inline.ts';

/** A line that is neither blank nor a comment. */
interface Line {
  readonly indent: number;
  readonly text: string;
  /** Index among all lines. */
  readonly row: number;
}

/** Deeper nesting is left to the parser that checks the limit. */
const MAX_PLAIN_DEPTH = 40;
/** Characters with a meaning, fault or warning that this reader does not handle. */
const STRANGE = /[^\n -~\u00a1-\ufefe\uff00-\ufffd]|[^\S\n ]/;
const ENTRY = /^([A-Za-z_$][\w.$/-]{0,200}|"[^"\\]{1,200}"|'[^']{1,200}')(?:: +|:$)/;
const MARKER = /^(?:---|\.\.\.|%)/;

/**
 * Reads plain YAML: block maps and lists, literal block text, and on one line quoted and plain text, numbers and flow
 * collections. Undefined at the first construct that it does not support (anchors, tags, folded text, faults): then the
 * complete parser reads the whole file.
 */
export function readPlainYaml(source: string): { readonly value: Json } | undefined {
  if (source.length > MAX_VALUES || STRANGE.test(source)) return undefined;
  const lines: Line[] = [];
  const rows = source.split('\n');
  for (const [row, line] of rows.entries()) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    if (MARKER.test(line)) return undefined;
    lines.push({ indent: indentOf(line), text, row });
  }
  const [first] = lines;
  if (first === undefined || first.indent !== 0) return undefined;
  const reader = new BlockReader(lines, rows);
  const value = reader.block(0, 0);
  return value !== UNKNOWN && reader.atEnd ? { value } : undefined;
}

const UNKNOWN = Symbol('unknown');
type Found = Json | typeof UNKNOWN;

class BlockReader {
  readonly #lines: Line[];
  readonly #rows: readonly string[];
  #at = 0;

  constructor(lines: Line[], rows: readonly string[]) {
    this.#lines = lines;
    this.#rows = rows;
  }

  get atEnd(): boolean {
    return this.#at >= this.#lines.length;
  }

  block(indent: number, depth: number): Found {
    if (depth > MAX_PLAIN_DEPTH) return UNKNOWN;
    return isItem(this.#lines[this.#at]!.text) ? this.#list(indent, depth) : this.#map(indent, depth);
  }

  #map(indent: number, depth: number): Found {
    const map: Record<string, Json> = {};
    for (let line = this.#lines[this.#at]; line && line.indent === indent; line = this.#lines[this.#at]) {
      const entry = ENTRY.exec(line.text);
      if (!entry || isItem(line.text)) return UNKNOWN;
      const written = entry[1]!;
      const key = written.startsWith('"') || written.startsWith("'") ? written.slice(1, -1) : written;
      if (key === '__proto__' || Object.hasOwn(map, key)) return UNKNOWN;
      const value = this.#value(line.text.slice(entry[0].length), { indent, depth, inMap: true });
      if (value === UNKNOWN) return UNKNOWN;
      map[key] = value;
    }
    return this.#goesDeeper(indent) ? UNKNOWN : map;
  }

  #list(indent: number, depth: number): Found {
    const list: Json[] = [];
    for (let line = this.#lines[this.#at]; line && line.indent === indent; line = this.#lines[this.#at]) {
      // A list that is the value of a map may be indented like the keys of the map.
      if (!isItem(line.text)) break;
      const rest = line.text.slice(1).trimStart();
      const isBlock = isItem(rest) || ENTRY.test(rest);
      let item: Found;
      if (isBlock) {
        // The text after the dash starts a block with this indentation.
        const inner = indent + line.text.length - rest.length;
        this.#lines[this.#at] = { indent: inner, text: rest, row: line.row };
        item = this.block(inner, depth + 1);
      } else item = this.#value(rest, { indent, depth, inMap: false });
      if (item === UNKNOWN) return UNKNOWN;
      list.push(item);
    }
    return this.#goesDeeper(indent) ? UNKNOWN : list;
  }

  /** Reads the value after a key or dash, or below it. */
  #value(rest: string, { indent, depth, inMap }: { indent: number; depth: number; inMap: boolean }): Found {
    if (rest === '|' || rest === '|-') return this.#literal(rest, indent);
    this.#at += 1;
    if (rest !== '' && !rest.startsWith('#')) {
      const inline: Inline | undefined = readInline(rest);
      // A more deeply indented line would continue this text.
      return inline === undefined || this.#goesDeeper(indent) ? UNKNOWN : inline.value;
    }
    const next = this.#lines[this.#at];
    if (next && next.indent > indent) return this.block(next.indent, depth + 1);
    if (inMap && next && next.indent === indent && isItem(next.text)) return this.#list(indent, depth + 1);
    return null;
  }

  /** Reads literal block text; unusual headers or ends are not supported. */
  #literal(mark: string, indent: number): Found {
    const begin = this.#lines[this.#at]!.row + 1;
    const depth = indentOf(this.#rows[begin] ?? '');
    if (depth <= indent || this.#rows[begin]?.trim() === '') return UNKNOWN;
    const texts: string[] = [];
    let row = begin;
    for (; row < this.#rows.length; row++) {
      const line = this.#rows[row]!;
      const isBlank = line.trim() === '';
      if (isBlank && line.length > depth) return UNKNOWN;
      if (!isBlank && indentOf(line) < depth) break;
      texts.push(line.slice(depth));
    }
    const isOpen = row === this.#rows.length && this.#rows.at(-1) !== '';
    if (isOpen || indentOf(this.#rows[row] ?? '') > indent) return UNKNOWN;
    while (texts.at(-1) === '') texts.pop();
    while ((this.#lines[this.#at]?.row ?? row) < row) this.#at += 1;
    return `${texts.join('\n')}${mark === '|' ? '\n' : ''}`;
  }

  #goesDeeper(indent: number): boolean {
    return (this.#lines[this.#at]?.indent ?? -1) > indent;
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ');
}
