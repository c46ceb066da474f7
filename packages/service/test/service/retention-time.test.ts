import { expect, test } from 'vitest';
import { type ClockRecord, observeClock } from '../../src/service/retention-time.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEARS = 50 * 365 * DAY;
const NOW = Date.UTC(2026, 0, 1);

/** A machine with a clock that may be set while it runs or is off. */
function createMachine() {
  let record: ClockRecord | undefined;
  let time = NOW;
  let wrong = 0;
  const observe = (ranMs: number) => {
    record = observeClock(record, time + wrong, ranMs);
    return record.retentionTime;
  };
  observe(0);
  return {
    set: (ms: number) => {
      wrong = ms;
    },
    start(offMs: number) {
      time += offMs;
      return observe(0);
    },
    /** As the service: observed every ten minutes. */
    run(hours: number) {
      let seen = Number.NaN;
      for (let i = 0; i < hours * 6; i++) {
        time += HOUR / 6;
        seen = observe(HOUR / 6);
      }
      return seen;
    },
    time: () => time,
  };
}

test('a clock that is years ahead at a start is not followed, nor after it was corrected', () => {
  const machine = createMachine();
  machine.run(30);
  machine.set(YEARS);
  expect(machine.start(HOUR)).toBe(machine.time() - HOUR);
  machine.run(23);
  machine.set(0);
  expect(machine.run(1)).toBe(machine.time());
});

test('a clock that is set while the service runs is not followed until it was steady for a day', () => {
  const machine = createMachine();
  machine.run(100);
  machine.set(YEARS);
  expect(machine.run(23)).toBe(machine.time());
  expect(machine.run(2)).toBe(machine.time() + YEARS);
});

test('a clock that jumps again has to be steady for another day, also across restarts', () => {
  const machine = createMachine();
  machine.set(YEARS);
  machine.start(0);
  machine.run(20);
  machine.set(2 * YEARS);
  expect(machine.start(HOUR)).toBeLessThan(machine.time());
  expect(machine.run(23)).toBeLessThan(machine.time());
  // Restarts without a jump keep what was observed.
  machine.start(HOUR);
  expect(machine.run(2)).toBe(machine.time() + 2 * YEARS);
});

test('a machine that was off for a year removes a day later, and one that was off for hours at once', () => {
  const machine = createMachine();
  expect(machine.start(365 * DAY)).toBe(NOW);
  machine.run(25);
  expect(machine.start(20 * HOUR)).toBe(machine.time());
});

test('a clock that is set back is followed at once, and again ahead only after a day', () => {
  const machine = createMachine();
  machine.set(-YEARS);
  expect(machine.run(1)).toBe(machine.time() - YEARS);
  machine.set(0);
  expect(machine.run(1)).toBeLessThan(machine.time() - YEARS + DAY);
  expect(machine.run(24)).toBe(machine.time());
});
