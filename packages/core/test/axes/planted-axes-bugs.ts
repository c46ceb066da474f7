export interface PlantedAxesBug {
  readonly name: string;
  /** Relative to `src`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

const IMPLIED = 'axes/implied-axes.ts';
const MATCH = 'axes/match-cells.ts';
const BATCHES = 'axes/batches.ts';
const BIND = 'axes/bind-where.ts';
const EXPAND = 'axes/expand-each.ts';
const PLAN = 'axes/plan-axes.ts';

/** Bugs by which a cell would read other cells than the rules say; the model test must find each. */
export const PLANTED_AXES_BUGS: readonly PlantedAxesBug[] = [
  {
    name: 'ignores one of the axes that both steps have',
    file: MATCH,
    find: 'createGroups(plan.axes ?? {}, shared)',
    replace: 'createGroups(plan.axes ?? {}, shared.slice(0, 1))',
  },
  {
    name: 'keeps the axes that imply a released one',
    file: IMPLIED,
    find: 'axis === released || implying(released, axis)',
    replace: 'axis === released',
  },
  {
    name: 'releases the axes that a released one implies',
    file: IMPLIED,
    find: 'axis === released || implying(released, axis)',
    replace: 'axis === released || implying(released, axis) || implying(axis, released)',
  },
  {
    name: 'keeps the axes that the axis of `where` implies',
    file: IMPLIED,
    find: '(implying(axis, bound) && !isListedAxis(pipeline, bound))',
    replace: 'false',
  },
  {
    name: 'keeps the axes that imply the axis of `where`',
    file: IMPLIED,
    find: 'axis === bound || implying(bound, axis) || (implying',
    replace: 'axis === bound || (implying',
  },
  {
    name: 'does not bind what the item of `where` implies',
    file: IMPLIED,
    find: 'given.flatMap((axis) => [axis, ...(implied.get(axis) ?? [])])',
    replace: 'given',
  },
  {
    name: 'lets the last of two contradicting keys of `where` win',
    file: BIND,
    find: 'items.filter((item) => agree(row, item))',
    replace: 'items',
  },
  {
    name: 'forgets that what a cell keeps can contradict `where`',
    file: BIND,
    find: '.filter((row) => remaining.every((item) => agree(row, item)))',
    replace: '.filter(() => remaining)',
  },
  {
    name: 'mounts the cells of a list in `where` directly',
    file: MATCH,
    find: 'isSingle && !hasList',
    replace: 'isSingle',
  },
  {
    name: 'reads only the first key of a list',
    file: BIND,
    find: 'for (const key of isList ? (value.value as readonly Json[])',
    replace: 'for (const key of isList ? (value.value as readonly Json[]).slice(0, 1)',
  },
  {
    name: 'takes an empty key for an unknown one',
    file: BIND,
    find: "if (key === '' || key === null) continue;",
    replace: 'if (key === null) continue;',
  },
  {
    name: 'takes an unknown key for an empty one',
    file: BIND,
    find: 'if (place === undefined) return fail(',
    replace: 'if (place === undefined) continue; else if (place < 0) return fail(',
  },
  {
    name: 'matches cells without an item of a `distinct` axis with each other',
    file: MATCH,
    find: 'if (items.some((item) => item < 0)) return undefined;',
    replace: '',
  },
  {
    name: 'takes axes that both have for all axes of the source',
    file: IMPLIED,
    find: '(source.each ?? []).every(',
    replace: '(source.each ?? []).some(',
  },
  {
    name: 'ignores that an axis fixes those that it implies',
    file: IMPLIED,
    find: 'for (const other of implied.get(axis) ?? []) fixed.add(other);',
    replace: '',
  },
  {
    name: 'leaves the cells in the order of the axes that imply others',
    file: EXPAND,
    find: 'if (a[at] !== b[at]) return a[at]! - b[at]!;',
    replace: 'void [at, a, b];',
  },
  {
    name: 'combines items that imply different items of an axis',
    file: EXPAND,
    find: 'const shared = implied.filter((one) => one.at >= 0);',
    replace: 'const shared: typeof implied = [];',
  },
  {
    name: 'has cells for items without a value of a `distinct` axis of the step',
    file: EXPAND,
    find: 'rows.filter((row) => row[at]! >= 0)',
    replace: 'rows',
  },
  {
    name: 'takes an empty value for an item of a `distinct` axis',
    file: PLAN,
    find: "value === undefined || value === null || value === ''",
    replace: 'value === undefined || value === null',
  },
  {
    name: 'sorts the items of a `distinct` axis',
    file: PLAN,
    find: 'return createDraft(items, keys, { doubles: own(source.doubles?.keys, field) });',
    replace: 'return createDraft([...items].sort(), [...keys].sort(), {});',
  },
  {
    name: 'implies items directly only',
    file: PLAN,
    find: 'for (const [axis, items] of [[other, direct.value] as const, ...all]) {',
    replace: 'void all;\n    for (const [axis, items] of [[other, direct.value] as const]) {',
  },
  {
    name: 'lets the last of two implied items win',
    file: PLAN,
    find: 'if (before !== undefined && conflict >= 0) {',
    replace: 'if (before !== undefined && conflict === -2) {',
  },
];

/** Bugs of cells whose items a step lists. */
export const PLANTED_LISTED_BUGS: readonly PlantedAxesBug[] = [
  {
    name: 'reads only the first of several items that `where` names',
    file: 'axes/bind-listed.ts',
    find: 'match.isList ? places :',
    replace: 'match.isList ? places.slice(0, 1) :',
  },
  {
    name: 'omits the keys of `where` that a list does not have',
    file: 'axes/bind-listed.ts',
    find: '!keys.value.every((key) => placeOf.has(key))',
    replace: '!keys.value.some((key) => placeOf.has(key))',
  },
  {
    name: 'reads all items of a list where the same one is meant',
    file: MATCH,
    find: 'if (!match.isByItem) return',
    replace: 'if (match.isByItem !== undefined) return',
  },
  {
    name: 'takes the item at another place of the list',
    file: BATCHES,
    find: 'place === 0 ? batch : seconds[batch]! + place - 1',
    replace: 'place === 0 ? batch : seconds[batch]! + place',
  },
  {
    name: 'has the cell of an empty list',
    file: BATCHES,
    find: 'size < 0 ? [batch]',
    replace: 'size <= 0 ? [batch]',
  },
  {
    name: 'gives the list of a cell to the first cell only that stands for it',
    file: BATCHES,
    find: 'else others.push(cell);',
    replace: '',
  },
];
