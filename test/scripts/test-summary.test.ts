import { expect, test } from 'vitest';
import { type Need, summarizeTests } from '../../scripts/test-summary.ts';

const NEEDS: readonly Need[] = [
  { name: 'engines', pattern: /hasDocker/, missing: ['Docker'] },
  { name: 'data', pattern: /shared/, missing: [] },
];
const SOURCES: Readonly<Record<string, string>> = {
  'a.test.ts': 'describe.skipIf(!hasDocker)',
  'b.test.ts': 'import shared',
};
const file = (path: string, { seconds = 1, tests = 10, skipped = 0 } = {}) => ({ path, seconds, tests, skipped });
const options = { needs: NEEDS, readSource: (path: string) => SOURCES[path] ?? '', isSoak: true };

test('summarizeTests lists the slowest files, the slowest first', () => {
  const files = Array.from({ length: 32 }, (_, index) => file(`f${index}.test.ts`, { seconds: index }));
  const listed = [...summarizeTests(files, options).matchAll(/([\d.]+) s {2}(\S+)/g)].map(([, seconds, path]) => [
    seconds,
    path,
  ]);
  expect(listed).toHaveLength(30);
  expect(listed.slice(0, 2)).toEqual([
    ['31.0', 'f31.test.ts'],
    ['30.0', 'f30.test.ts'],
  ]);
});

test('summarizeTests ends with what was left out, and what this machine lacks for it', () => {
  const files = [file('a.test.ts', { skipped: 4 }), file('b.test.ts', { skipped: 1 }), file('c.test.ts')];
  expect(
    summarizeTests(files, { ...options, isSoak: false })
      .split('\n')
      .at(-1),
  ).toBe(
    'Left out: 5 of 30 tests (4 need engines (missing: Docker); 1 need another kind of machine), and most random seeds and planted bugs (all of them with `pnpm soak`)',
  );
  expect(
    summarizeTests([file('c.test.ts')], options)
      .split('\n')
      .at(-1),
  ).toBe('Left out: 0 of 10 tests');
});
