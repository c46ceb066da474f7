import { expect, test } from 'vitest';
import { compareTrees, type TreeFile } from '../../src/runs/compare-trees.ts';

const tree = (files: Record<string, number | string>) =>
  new Map(
    Object.entries(files).map(([path, value]): [string, TreeFile] => [
      path,
      typeof value === 'number' ? { path, size: value } : { path, size: 0, link: value },
    ]),
  );

test('sizes and links decide, except for files of the same size', () => {
  const compared = compareTrees(
    tree({ a: 1, b: 2, new: 1, link: 'a', moved: 'a', kind: 'a' }),
    tree({ a: 1, b: 3, old: 1, link: 'a', moved: 'b', kind: 0 }),
  );
  expect(compared.added.map(({ path }) => path)).toEqual(['new']);
  expect(compared.removed.map(({ path }) => path)).toEqual(['old']);
  expect(compared.changed.map(({ path }) => path)).toEqual(['b', 'kind', 'moved']);
  expect(compared.undecided.map(({ path }) => path)).toEqual(['a']);
  expect(compared.same).toBe(1);
});

test('a tree has no differences from an empty one but its files', () => {
  const { added, removed, ...others } = compareTrees(tree({ z: 1, a: 2 }), new Map());
  expect(added.map(({ path }) => path)).toEqual(['a', 'z']);
  expect(removed).toEqual([]);
  expect(others).toEqual({ changed: [], undecided: [], same: 0 });
});
