import { expect, test } from 'vitest';
import { deferInTurn } from '../src/defer-in-turn.ts';

/** Counts the turns of the event loop until the promise is settled. */
async function countTurns(done: Promise<void>): Promise<number> {
  let hasEnded = false;
  void done.then(() => {
    hasEnded = true;
  });
  let turns = 0;
  for (; !hasEnded; turns++) await new Promise((resolve) => setImmediate(resolve));
  return turns;
}

function work(ms: number): void {
  const endAt = performance.now() + ms;
  while (performance.now() < endAt);
}

test('deferInTurn: calls in order, after the present turn, and those that were added meanwhile in the next one', async () => {
  const called: string[] = [];
  const done = new Promise<void>((resolve) => {
    deferInTurn(() => {
      called.push('a');
      deferInTurn(() => {
        called.push('d');
        resolve();
      });
    });
    deferInTurn(() => called.push('b'));
    setImmediate(() => called.push('c'));
  });
  called.push('now');
  await done;
  expect(called.filter((name) => name !== 'c')).toEqual(['now', 'a', 'b', 'd']);
  expect(called.indexOf('c')).toBeLessThan(called.indexOf('d'));
});

test('deferInTurn: callbacks that take long leave every turn to others', async () => {
  const done = new Promise<void>((resolve) => {
    for (let at = 0; at < 5; at++) deferInTurn(() => work(25));
    deferInTurn(resolve);
  });
  expect(await countTurns(done)).toBeGreaterThanOrEqual(5);
});

test('deferInTurn: what continues after a callback counts, too', async () => {
  const waits = Array.from({ length: 5 }, async () => {
    await new Promise<void>(deferInTurn);
    work(25);
  });
  expect(await countTurns(Promise.all(waits).then(() => {}))).toBeGreaterThanOrEqual(5);
});

test('deferInTurn: after a callback that took long, others have as much time', async () => {
  let endedAt = 0;
  const begunAt = await new Promise<number>((resolve) => {
    deferInTurn(() => {
      work(150);
      endedAt = performance.now();
    });
    deferInTurn(() => resolve(performance.now()));
  });
  // Timers may fire a millisecond early.
  expect(begunAt - endedAt).toBeGreaterThan(145);
});
