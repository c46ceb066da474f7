import { expect, test } from 'vitest';
import { renderTable } from '../src/render-table.ts';

test('renderTable aligns columns and leaves no blanks at the ends of lines', () => {
  expect(
    renderTable([
      ['STEP', 'STATE', 'WHY'],
      ['fit', 'succeeded', ''],
      ['evaluate', 'failed', 'exit code 3'],
    ]),
  ).toBe('STEP      STATE      WHY\nfit       succeeded\nevaluate  failed     exit code 3\n');
});
