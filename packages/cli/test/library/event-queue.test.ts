import { expect, test } from 'vitest';
import { createEventQueue } from '../../src/library/event-queue.ts';

const warning = (at: number) => ({ type: 'warning', runId: 'r1', seq: at, at, message: '' }) as const;

async function take(events: AsyncIterable<{ readonly at: number }>, count: number): Promise<number[]> {
  const taken: number[] = [];
  for await (const { at } of events) {
    taken.push(at);
    if (taken.length === count) break;
  }
  return taken;
}

test('events are read in order, from before and during the iteration, until the end', async () => {
  const queue = createEventQueue();
  queue.add(warning(1));
  const read = take(queue.events, 9);
  await Promise.resolve();
  queue.add(warning(2));
  queue.add(warning(3));
  queue.end();
  expect(await read).toEqual([1, 2, 3]);
});

test('a reader that stops loses nothing for the next one', async () => {
  const queue = createEventQueue();
  for (const at of [1, 2, 3]) queue.add(warning(at));
  queue.end();
  expect(await take(queue.events, 1)).toEqual([1]);
  expect(await take(queue.events, 9)).toEqual([2, 3]);
});

test('two readers share the events', async () => {
  const queue = createEventQueue();
  const readers = [take(queue.events, 9), take(queue.events, 9)];
  await Promise.resolve();
  for (const at of [1, 2, 3, 4]) queue.add(warning(at));
  queue.end();
  expect((await Promise.all(readers)).flat().sort()).toEqual([1, 2, 3, 4]);
});

test('unread events are bounded: readers get an error instead of a part of them', async () => {
  const queue = createEventQueue(2);
  for (const at of [1, 2, 3]) queue.add(warning(at));
  queue.end();
  await expect(take(queue.events, 9)).rejects.toMatchObject({ name: 'SluiceError', code: 'EVENTS_OVERFLOW' });
});
