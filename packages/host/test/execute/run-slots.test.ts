import { expect, test } from 'vitest';
import { createRunSlots } from '../../src/execute/run-slots.ts';

test('runs wait for slots in order, leave the queue when aborted, and see a changed maximum', async () => {
  let maximum = 1;
  const slots = createRunSlots(() => maximum);
  const given: string[] = [];
  const acquire = (name: string, signal = new AbortController().signal) => {
    const slot = slots.acquire(signal);
    void slot.then((release) => given.push(release ? name : `no ${name}`));
    return slot;
  };
  const first = await acquire('a');
  const leaving = new AbortController();
  const gone = acquire('b', leaving.signal);
  const second = acquire('c');
  const third = acquire('d');
  expect(slots.isFree()).toBe(false);
  leaving.abort();
  await gone;
  first!();
  first!();
  const releaseSecond = await second;
  expect(given).toEqual(['a', 'no b', 'c']);
  maximum = 2;
  releaseSecond!();
  await third;
  expect(given).toEqual(['a', 'no b', 'c', 'd']);
  expect(slots.isFree()).toBe(true);
  const fourth = acquire('e');
  await fourth;
  const fifth = acquire('f');
  expect(slots.isFree()).toBe(false);
  maximum = 3;
  slots.update();
  await fifth;
  expect(given).toEqual(['a', 'no b', 'c', 'd', 'e', 'f']);
  expect(await slots.acquire(AbortSignal.abort())).toBe(undefined);
});
