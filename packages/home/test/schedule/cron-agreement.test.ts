import { parsePipeline } from '@sluice/core';
import { expect, test } from 'vitest';
import { createRandom } from '../../../run/test/random.ts';
import { describeScheduleFault } from '../../src/schedule/planned-times.ts';

const PARTS = ['*', '?', '0', '5', '07', '31', '32', '60', '24', 'L', 'LW', '15W', '31W', 'fri', 'MON', 'jan', 'x'];
const SUFFIXES = ['', '', '', '-7', '-1', '/2', '/0', '#2', '#6', '#L', 'L', ',3', ',', '-fri', '+1'];
const MACROS = ['@daily', '@reboot', '@yearly', '@never', '@MIDNIGHT', ' @hourly '];

test('the check of a file rejects exactly the cron expressions that cannot be planned later', () => {
  const seed = process.env.SLUICE_SEED ?? 'cron-1';
  console.log(`seed ${seed}`);
  const random = createRandom(seed);
  const expressions = [...MACROS];
  for (let made = 0; made < 800; made++) {
    // Mostly plain, so that one odd field decides.
    const fields = Array.from({ length: random.next() < 0.05 ? 6 : 5 }, () =>
      random.next() < 0.8 ? '*' : random.pick(PARTS) + random.pick(SUFFIXES),
    );
    expressions.push(fields.join(' '));
  }
  let rejected = 0;
  for (const cron of expressions) {
    const text = JSON.stringify({ version: 1, name: 'a', schedule: { cron }, steps: { s: { command: ['x'] } } });
    const checked = parsePipeline({ file: 'p.json', text });
    const fault = describeScheduleFault({ cron: [cron], timezone: 'UTC' }, 0);
    expect(checked.ok, `${cron}: ${fault}`).toBe(!fault?.includes('cannot be used'));
    if (!checked.ok) rejected++;
  }
  expect(rejected).toBeGreaterThan(80);
  expect(rejected).toBeLessThan(720);
});
