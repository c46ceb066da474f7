import { summarizeCounts } from '@sluice/run';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countUntil, createHistory, extendHistory, replayHistory } from '../../src/model/change-history.ts';
import { applyChanges, countsOf, createRunModel, lettersOf, totalCounts } from '../../src/model/run-model.ts';
import { codeOf, STATUSES } from '../../src/model/statuses.ts';

type CellChange = Parameters<typeof applyChanges>[1][number];

const CELLS = [1, 5, 3];
const WORDS = [...new Set(STATUSES.map(({ status }) => status))] as CellChange[4][];

/** Changes of a run with `CELLS`, with increasing positions and times. Several can have one position. */
const someChanges = fc
  .array(
    fc.record({
      step: fc.nat(CELLS.length - 1),
      cell: fc.nat(4),
      status: fc.constantFrom(...WORDS),
      isReused: fc.boolean(),
      isNext: fc.boolean(),
    }),
    { maxLength: 60 },
  )
  .map((drafts) => {
    let position = 1;
    return drafts.map(({ step, cell, status, isReused, isNext }): CellChange => {
      if (isNext) position += 1;
      return [position, position * 100, step, cell % CELLS[step]!, status, 1, status === 'succeeded' && isReused];
    });
  });

const emptyStates = () => ({ position: 0, states: CELLS.map((count) => 'w'.repeat(count)) });

/** The states after changes, without any of the code under test but the letters. */
function expectedLetters(changes: readonly CellChange[]): string[] {
  const cells = CELLS.map((count) => Array.from({ length: count }, () => 'w'));
  for (const [, , step, cell, status, , reused] of changes)
    cells[step]![cell] = STATUSES.find((look) => look.status === status && (look.letter === 'e') === reused)!.letter;
  return cells.map((letters) => letters.join(''));
}

test('applyChanges has the same states for all ways to split the changes into batches, with repetitions', () => {
  fc.assert(
    fc.property(someChanges, fc.array(fc.nat(60)), (changes, cuts) => {
      const model = createRunModel(emptyStates());
      const positions = [...new Set(changes.map(([position]) => position))];
      const ends = [...cuts.map((cut) => positions[cut % Math.max(1, positions.length)] ?? 0), positions.at(-1) ?? 0];
      for (const end of ends.sort((a, b) => a - b)) {
        // A batch that begins too early, as after a reconnect.
        applyChanges(
          model,
          changes.filter(([position]) => position <= end),
          end,
        );
      }
      expect(lettersOf(model)).toEqual(expectedLetters(changes));
      expect([...totalCounts(model)].reduce((sum, count) => sum + count, 0)).toBe(9);
      lettersOf(model).forEach((letters, step) => {
        STATUSES.forEach(({ letter }, code) => {
          expect(countsOf(model, step)[code]).toBe(letters.split(letter).length - 1);
        });
      });
    }),
  );
});

test('createRunModel and lettersOf are inverse', () => {
  const states = ['wqbprua', 'sefkc', ''];
  expect(lettersOf(createRunModel({ position: 3, states }))).toEqual(states);
});

test('applyChanges adds the cells of a foreach that become known', () => {
  const model = createRunModel({ position: 0, states: [''] });
  applyChanges(model, [[1, 5, 0, 2, 'running', 1, false]], 1);
  expect(lettersOf(model)).toEqual(['wwr']);
  expect(countsOf(model, 0)[0]).toBe(2);
});

test('replayHistory has the states at every time, forward and backward', () => {
  fc.assert(
    fc.property(someChanges, fc.array(fc.nat(7_000), { maxLength: 8 }), (changes, times) => {
      const history = createHistory(CELLS.length);
      const last = changes.at(-1)?.[0] ?? 0;
      extendHistory(history, changes, last);
      extendHistory(history, changes, last);
      let replay: ReturnType<typeof replayHistory> | undefined;
      for (const time of times) {
        replay = replayHistory(history, countUntil(history, time), replay);
        const expected = expectedLetters(changes.filter(([, at]) => at <= time));
        // The history knows only the cells that it mentions.
        lettersOf(replay.model).forEach((letters, step) => {
          expect(expected[step]!.startsWith(letters)).toBe(true);
        });
      }
    }),
  );
});

test.each([
  ['a failure', 'ssf', 'failed'],
  ['a started step', 'sww', 'running'],
  ['a finished step', 'sse', 'succeeded'],
  ['an approval', 'sa', 'awaitingApproval'],
  ['nothing', '', 'waiting'],
])('summarizeCounts shows a step with %s', (_what, letters, status) => {
  const model = createRunModel({ position: 0, states: [letters] });
  expect(STATUSES[summarizeCounts(countsOf(model, 0))]!.status).toBe(status);
});

test('codeOf rejects what is no status', () => {
  expect(() => codeOf('cached')).toThrow('there is no status cached');
});
