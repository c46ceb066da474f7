import type { YAMLMap, YAMLSeq } from 'yaml';

/** A replacement in a text, by offsets. Everything else, including comments and layout, is kept. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

type Ranged = { readonly range?: readonly [start: number, valueEnd: number, nodeEnd: number] | null };

/** Returns the changed text. */
export function applySplice(text: string, { from, to, text: inserted }: Splice): string {
  return text.slice(0, from) + inserted + text.slice(to);
}

/** Appends an item to a list of the text. `item` is one line of YAML. */
export function spliceItemIn(text: string, list: YAMLSeq, item: string): Splice {
  const last = list.items.at(-1) as Ranged | undefined;
  if (list.flow === true) {
    if (last === undefined) return insertion(startOf(list) + 1, item);
    return insertion(endOf(last), `, ${item}`);
  }
  const at = lineEnd(text, endOf(last));
  return insertion(at, `\n${indentAt(text, dashBefore(text, last))}- ${item}`);
}

/** Removes the item at `index` from a list of the text. */
export function spliceItemOut(text: string, list: YAMLSeq, index: number): Splice {
  const items = list.items as Ranged[];
  const item = items[index];
  const [before, after] = [items[index - 1], items[index + 1]];
  if (list.flow === true) {
    if (after !== undefined) return { from: startOf(item), to: startOf(after), text: '' };
    return { from: before === undefined ? startOf(item) : endOf(before), to: endOf(item), text: '' };
  }
  const dash = dashBefore(text, item);
  if (items.length === 1) return { from: dash, to: endTrimmed(text, item), text: '[]' };
  return { from: lineStart(text, dash), to: lineEnd(text, endOf(item)) + 1, text: '' };
}

/** Appends a field to a map of the text. `field` is one line of YAML. */
export function spliceFieldIn(text: string, map: YAMLMap, field: string): Splice {
  const last = map.items.at(-1);
  const end = endOf((last?.value ?? last?.key) as Ranged | undefined);
  if (map.flow === true) return insertion(end, `, ${field}`);
  const column = startOf(map) - lineStart(text, startOf(map));
  return insertion(lineEnd(text, end), `\n${' '.repeat(column)}${field}`);
}

function insertion(at: number, text: string): Splice {
  return { from: at, to: at, text };
}

function startOf(node: Ranged | undefined): number {
  return node?.range?.[0] ?? 0;
}

function endOf(node: Ranged | undefined): number {
  return node?.range?.[1] ?? 0;
}

/** The end of a node's text, without the line breaks after it that a block's range includes. */
function endTrimmed(text: string, node: Ranged | undefined): number {
  return startOf(node) + text.slice(startOf(node), endOf(node)).trimEnd().length;
}

function dashBefore(text: string, item: Ranged | undefined): number {
  return text.lastIndexOf('-', startOf(item) - 1);
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** The end of the line that contains the character before `at`. */
function lineEnd(text: string, at: number): number {
  const found = text.indexOf('\n', at > 0 && text[at - 1] === '\n' ? at - 1 : at);
  return found === -1 ? text.length : found;
}

function indentAt(text: string, at: number): string {
  return ' '.repeat(at - lineStart(text, at));
}
