/** Where an item waits. */
export interface Line {
  readonly account: string;
  /** Divides the items of an account. */
  readonly name: string;
}

interface Place {
  readonly line: Line;
  readonly index: number;
}

/** The items of one line, in order. A removed item leaves a hole until the front passes it. */
interface Items {
  keys: (string | undefined)[];
  front: number;
  size: number;
}

interface Account {
  /** In the order of their turns. */
  readonly lines: Map<string, Items>;
  size: number;
}

/** Holes at the front of a line that are kept. */
const MOST_HOLES = 1024;

/**
 * Waiting items whose accounts take turns, and within an account its lines; a line is strictly first in, first out. With
 * one line it is a plain queue.
 */
export class TurnQueue {
  /** In the order of their turns: the first is next, and then goes to the end. */
  readonly #accounts = new Map<string, Account>();
  readonly #places = new Map<string, Place>();

  get size(): number {
    return this.#places.size;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  push(key: string, line: Line): void {
    const account = this.#accounts.get(line.account) ?? { lines: new Map<string, Items>(), size: 0 };
    const items = account.lines.get(line.name) ?? { keys: [], front: 0, size: 0 };
    this.#accounts.set(line.account, account);
    account.lines.set(line.name, items);
    this.#places.set(key, { line, index: items.keys.length });
    items.keys.push(key);
    items.size++;
    account.size++;
  }

  /** The item whose turn is next; undefined if there is none. */
  first(): string | undefined {
    const account = first(this.#accounts);
    const items = account && first(account.lines);
    return items?.keys[items.front];
  }

  /** Removes the first item, whose line and account then have their next turn after the others. */
  shift(): void {
    const key = this.first();
    const place = key === undefined ? undefined : this.#places.get(key);
    if (key === undefined || place === undefined) return;
    const { line } = place;
    this.remove(key);
    const account = this.#accounts.get(line.account);
    if (account === undefined) return;
    moveToEnd(this.#accounts, line.account);
    moveToEnd(account.lines, line.name);
  }

  remove(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    const { line, index } = place;
    const account = this.#accounts.get(line.account)!;
    const items = account.lines.get(line.name)!;
    this.#places.delete(key);
    items.keys[index] = undefined;
    if (--items.size === 0) account.lines.delete(line.name);
    if (--account.size === 0) this.#accounts.delete(line.account);
    while (items.front < items.keys.length && items.keys[items.front] === undefined) items.front++;
    if (items.front > MOST_HOLES && items.front * 2 > items.keys.length) this.#compact(items, line);
  }

  /** How many items are returned before this one. Beyond a thousand places in its line, holes count as items. */
  before(key: string): number {
    const { line, index } = this.#places.get(key)!;
    const { lines } = this.#accounts.get(line.account)!;
    const inLine = countItems(lines.get(line.name)!, index);
    const inAccount = inLine + countTurns(lines, line.name, inLine);
    return inAccount + countTurns(this.#accounts, line.account, inAccount);
  }

  #compact(items: Items, line: Line): void {
    items.keys = items.keys.slice(items.front);
    items.front = 0;
    for (const [index, key] of items.keys.entries()) if (key !== undefined) this.#places.set(key, { line, index });
  }
}

function first<T>(ring: ReadonlyMap<string, T>): T | undefined {
  for (const entry of ring.values()) return entry;
  return undefined;
}

function moveToEnd<T>(ring: Map<string, T>, name: string): void {
  const entry = ring.get(name);
  if (entry === undefined) return;
  ring.delete(name);
  ring.set(name, entry);
}

/** The items of a line before this index. */
function countItems({ keys, front }: Items, index: number): number {
  if (index - front > 1000) return index - front;
  let count = 0;
  for (let i = front; i < index; i++) if (keys[i] !== undefined) count++;
  return count;
}

/** The turns of the others before this one has had `turns` turns. */
function countTurns(ring: ReadonlyMap<string, { readonly size: number }>, own: string, turns: number): number {
  let count = 0;
  let isAhead = true;
  for (const [name, { size }] of ring) {
    if (name === own) isAhead = false;
    else count += Math.min(size, turns + (isAhead ? 1 : 0));
  }
  return count;
}
