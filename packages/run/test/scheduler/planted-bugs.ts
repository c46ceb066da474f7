/** A bug of the scheduler. */
export interface PlantedSchedulerBug {
  readonly name: string;
  /** Relative to the folder of the scheduler. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** With these plans it is found soon; other seeds take longer. Default 1. */
  readonly seed?: number;
}

const ITEMS = 'state/item-limits.ts';

/** The laws must find each of these bugs. */
export const PLANTED_SCHEDULER_BUGS: readonly PlantedSchedulerBug[] = [
  {
    name: 'begins one item more than an axis allows',
    file: ITEMS,
    find: 'while (axis.used < axis.size &&',
    replace: 'while (axis.used <= axis.size &&',
  },
  {
    name: 'lets an item wait for another one that has no place',
    file: ITEMS,
    find: '    flags[one] = 1;',
    replace: '    flags[one] = 0;',
    seed: 6,
  },
  {
    name: 'takes the end of the first cell for the end of an item',
    file: ITEMS,
    find: '--limits.open[item]! > 0 ||',
    replace: '--limits.open[item]! < 0 ||',
  },
  {
    name: 'takes all items of a list for one',
    file: 'state/item-table.ts',
    find: 'lists.memberAt(item, batches[step]!.placeOf(cell))',
    replace: 'lists.memberAt(item, 0)',
  },
  {
    name: 'lets the items of a list that is needed wait for each other',
    file: ITEMS,
    find: 'limits.isListNeeded[items.lists.batchOf(item)] === 1',
    replace: 'limits.isListNeeded[items.lists.batchOf(item)] === 2',
  },
  {
    name: 'takes all items of a list for needed where the same one is',
    file: 'state/needed-cells.ts',
    find: 'match.isByItem ? place : undefined',
    replace: 'undefined',
  },
  {
    name: 'reads the first item of a list in place of the one that `where` names',
    file: 'state/match-table.ts',
    find: 'edge.bound!.set(cell, item);',
    replace: "edge.bound!.set(cell, typeof item === 'number' ? Math.min(item, 0) : item);",
    seed: 3,
  },
  {
    name: 'judges a directory by the failures of its step',
    file: 'flow/judge-gate.ts',
    find: 'isTolerant: tolerates(run, on, ends),',
    replace: 'isTolerant: stepEnd(run, on).isTolerant,',
    seed: 23,
  },
  {
    name: 'starts further cells of a step beyond its tolerance',
    file: 'state/move-cell.ts',
    find: '  run.exceeded[step] = 1;\n',
    replace: '',
  },
  {
    name: 'gives the first cell of a step the values of the one that is decided',
    file: 'state/cell-values.ts',
    find: '    known[first + index] =',
    replace: '    known[index] =',
  },
];
