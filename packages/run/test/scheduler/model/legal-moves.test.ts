import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CELL_STATES, TERMINAL_CELL_STATES } from '../../../src/scheduler/model/cell-state.ts';
import { CAUSE, CAUSES, isLegal, isPossible, MOVES } from '../../../src/scheduler/model/legal-moves.ts';
import { CODE } from '../../../src/scheduler/model/state-code.ts';

const PAGE = fileURLToPath(new URL('../../../../../docs/scheduler.md', import.meta.url));
const FROM = '<!-- moves: written by packages/run/test/scheduler/model/legal-moves.test.ts -->\n';
const TO = '<!-- end of moves -->';

describe('MOVES', () => {
  test('isLegal: says what the table says, for every state, cause and target', () => {
    for (const from of CELL_STATES) {
      for (const cause of CAUSES) {
        const targets = MOVES[from]?.[cause] ?? [];
        expect(isPossible(CODE[from], CAUSE[cause])).toBe(targets.length > 0);
        for (const to of CELL_STATES) expect(isLegal(CODE[from], CAUSE[cause], CODE[to])).toBe(targets.includes(to));
      }
    }
  });

  test('isLegal: terminal states are never left, and every other state leads to one', () => {
    for (const state of CELL_STATES) expect(MOVES[state] === undefined).toBe(TERMINAL_CELL_STATES.has(state));
    for (const state of CELL_STATES) {
      const seen = new Set([state]);
      for (const at of seen)
        for (const targets of Object.values(MOVES[at] ?? {})) for (const to of targets) seen.add(to);
      expect([...seen].some((reached) => TERMINAL_CELL_STATES.has(reached))).toBe(true);
    }
  });

  test('MOVES: docs/scheduler.md shows this very table (SLUICE_UPDATE_DOCS=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const start = page.indexOf(FROM) + FROM.length;
    const end = page.indexOf(TO);
    const updated = page.slice(0, start) + renderTable() + page.slice(end);
    if (process.env.SLUICE_UPDATE_DOCS === '1') writeFileSync(PAGE, updated);
    else expect(page).toBe(updated);
  });
});

function renderTable(): string {
  const rows = Object.entries(MOVES).flatMap(([state, row]) =>
    Object.entries(row).map(
      ([cause, targets]) => `| \`${state}\` | ${cause} | ${targets.map((to) => `\`${to}\``).join(' ')} |`,
    ),
  );
  return `${['| from | by | to |', '|---|---|---|', ...rows].join('\n')}\n`;
}
