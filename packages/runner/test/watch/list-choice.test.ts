import { describe, expect, test } from 'vitest';
import { createListChoice, type ListChoice, type ListYield } from '../../src/watch/list-choice.ts';

const YIELD: ListYield = { items: 50, wanted: 50, beyondRunning: 0, missed: 0 };

function list(choice: ListChoice, times: number, seen: Partial<ListYield>): string {
  for (let time = 0; time < times; time++) choice.listed({ ...YIELD, ...seen });
  return choice.next();
}

describe('createListChoice', () => {
  test('asks for the list of everything where live containers are missing from the other one again and again', () => {
    const choice = createListChoice();
    expect(list(choice, 2, { missed: 9 })).toBe('live');
    expect(list(choice, 1, { missed: 0 })).toBe('live');
    expect(list(choice, 3, { missed: 9 })).toBe('all');
    expect(list(choice, 100, { beyondRunning: 9 })).toBe('all');
    expect(list(choice, 100, { beyondRunning: 0 })).toBe('all');
  });

  test('leaves the list of everything where it costs more than asking for what is missing, and is slower to come back', () => {
    const choice = createListChoice();
    list(choice, 3, { missed: 9 });
    expect(list(choice, 1, { items: 5000, beyondRunning: 9 })).toBe('live');
    expect(list(choice, 5, { missed: 9 })).toBe('live');
    expect(list(choice, 1, { missed: 9 })).toBe('all');
  });

  test('tries a list that fails ever more rarely, and at once again when it has worked', () => {
    const choice = createListChoice();
    const fail = () => (choice.failed(false) ? choice.managedAlone() : undefined);
    expect([fail(), fail(), fail(), fail()]).toEqual([false, false, true, false]);
    expect([choice.next(), choice.next(), choice.next()]).toEqual(['single', 'single', 'live']);
    for (let time = 0; time < 20; time++) fail();
    let skipped = 0;
    while (choice.next() === 'single') skipped++;
    expect(skipped).toBe(64);
    choice.listed(YIELD);
    fail();
    expect(choice.next()).toBe('live');
  });

  test('does not ask for each container of a service that throttles, unless it throttles every list', () => {
    const choice = createListChoice();
    expect(Array.from({ length: 6 }, () => choice.failed(true))).toEqual([false, false, false, false, true, true]);
    choice.listed(YIELD);
    expect(choice.failed(true)).toBe(false);
  });
});
