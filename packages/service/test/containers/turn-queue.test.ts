import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TurnQueue } from '../../src/containers/turn-queue.ts';

function drain(queue: TurnQueue): string[] {
  const order: string[] = [];
  for (let key = queue.first(); key !== undefined; key = queue.first()) {
    order.push(key);
    queue.shift();
  }
  return order;
}

function fill(items: readonly string[]): TurnQueue {
  const queue = new TurnQueue();
  // Account, line and number, as in `a/x1`.
  for (const item of items) queue.push(item, { account: item[0]!, name: item[2]! });
  return queue;
}

test.each([
  { what: 'one line in order', items: ['a/x1', 'a/x2', 'a/x3'], order: ['a/x1', 'a/x2', 'a/x3'] },
  {
    what: 'lines in turn',
    items: ['a/x1', 'a/x2', 'a/x3', 'a/y1', 'a/y2'],
    order: ['a/x1', 'a/y1', 'a/x2', 'a/y2', 'a/x3'],
  },
  {
    what: 'accounts in turn, whatever number of lines they have',
    items: ['a/x1', 'a/y1', 'a/z1', 'b/x1', 'b/x2'],
    order: ['a/x1', 'b/x1', 'a/y1', 'b/x2', 'a/z1'],
  },
])('TurnQueue returns $what', ({ items, order }) => {
  expect(drain(fill(items))).toEqual(order);
});

test('TurnQueue keeps the first item when others join', () => {
  const queue = fill(['a/x1', 'a/x2']);
  queue.shift();
  expect(queue.first()).toBe('a/x2');
  for (const item of ['a/y1', 'b/x1']) queue.push(item, { account: item[0]!, name: item[2]! });
  expect(queue.first()).toBe('a/x2');
});

test('TurnQueue: before() is the number of items that are returned earlier', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ account: fc.integer({ min: 0, max: 2 }), name: fc.integer({ min: 0, max: 3 }) }), {
        maxLength: 60,
      }),
      fc.array(fc.nat(59), { maxLength: 20 }),
      fc.nat(20),
      (lines, removed, shifted) => {
        const queue = new TurnQueue();
        for (const [i, { account, name }] of lines.entries())
          queue.push(`${i}`, { account: `${account}`, name: `${name}` });
        for (let i = 0; i < shifted; i++) queue.shift();
        for (const i of removed) queue.remove(`${i}`);
        const left = lines.map((_, i) => `${i}`).filter((key) => queue.has(key));
        const before = new Map(left.map((key) => [key, queue.before(key)]));
        expect(queue.size).toBe(left.length);
        const order = drain(queue);
        expect(order).toHaveLength(left.length);
        for (const [i, key] of order.entries()) expect(before.get(key)).toBe(i);
        expect(queue.size).toBe(0);
      },
    ),
  );
});

test('TurnQueue forgets the holes of a long line', () => {
  const queue = new TurnQueue();
  const line = { account: 'a', name: 'x' };
  for (let i = 0; i < 5_000; i++) queue.push(`${i}`, line);
  for (let i = 0; i < 4_000; i++) queue.shift();
  queue.remove('4500');
  expect(queue.first()).toBe('4000');
  expect(queue.before('4999')).toBe(998);
  expect(drain(queue)).toHaveLength(999);
});
