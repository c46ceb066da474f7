import { expect, test } from 'vitest';
import { createRandom } from '../../../run/test/random.ts';
import { createAbsenceLimit } from '../../src/session/absence-limit.ts';
import { drawDialect } from './dialect.ts';

test('drawDialect hides no container for so long that it counts as lost', () => {
  const { ms } = createAbsenceLimit();
  const hidden = Array.from({ length: 5000 }, (_, seed) => {
    const { readLagMs, absentMs } = drawDialect(createRandom(`dialect ${seed}`));
    return readLagMs + absentMs;
  });
  expect(Math.max(...hidden)).toBeGreaterThan(ms / 2);
  expect(Math.max(...hidden)).toBeLessThan(ms);
});
