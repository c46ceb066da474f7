import { OWN_DIALECT } from './dialect.ts';
import { CALM } from './faults.ts';
import { findLister } from './listed-parts.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Scenario } from './scenario.ts';
import type { StepScript } from './step-script.ts';

const hasLists = ({ runs }: Scenario) => runs.some(({ steps }) => findLister(steps) !== undefined);
const has = (kind: string) => (scenario: Scenario) =>
  hasLists(scenario) && scenario.runs.some(({ mishaps }) => mishaps.some((mishap) => mishap.kind === kind));

const step = (name: string, more: Partial<StepScript> = {}): StepScript => ({
  ...{ name, needs: [], inputs: [], hasOutput: true, cells: 1, retries: 0, continueOnError: false, runMs: 1000 },
  attempts: ['succeed'],
  ...more,
});

/** Single cells are changed before the directory with them is mounted. */
const CHANGED_CELLS: Scenario = {
  seed: 'changed cells',
  runs: [
    {
      steps: [
        step('s0', { each: 'sample', lists: [['p0', 'p1'], ['p0']] }),
        step('s1', { each: 'part' }),
        step('s2', { each: 'part', inputs: ['s1'], spoils: [1] }),
        step('s3', { runMs: 30_000 }),
        step('s4', { inputs: ['s1'], needs: ['s3'] }),
      ],
      failFast: false,
      mishaps: [],
    },
  ],
  ...{ pools: {}, dialect: OWN_DIALECT, faults: CALM, bursts: [], hints: true, comparesInputs: true },
};

/** What would give the items of a list to the wrong cells, or lose them. */
export const PLANTED_LIST_BUGS: readonly PlantedBug[] = [
  {
    name: 'records the success of a cell without what it lists',
    file: 'run/perform-command.ts',
    find: '{ results, ...listed.facts },',
    replace: '{ results },',
    among: hasLists,
  },
  {
    name: 'takes a wrong list for an empty one',
    seed: 207,
    file: 'session/list-items.ts',
    find: '  if (!lists.ok) return lists;\n',
    replace: '  if (!lists.ok) return ok({ event: { lists: { part: 0 } }, facts: { lists: { part: [] } } });\n',
    among: hasLists,
  },
  {
    name: 'gives the items of a list to its cells in another order than the scheduler',
    file: '../../run/src/facts/listed-cells.ts',
    find: 'facts.batches[of]!.memberAt(batch, place)] =',
    replace: 'facts.batches[of]!.memberAt(batch, items.length - 1 - place)] =',
    among: hasLists,
  },
  {
    name: 'reports listed cells in the order in which their lists became known',
    file: '../../run/src/report/create-report.ts',
    find: 'cellsInOrder(facts, step)',
    replace: 'facts.cells[step]?.map((_, cell) => cell) ?? cellsInOrder(facts, step)',
    among: hasLists,
  },
  {
    name: 'mounts the first item of a list in the cells of all its items',
    seed: 62,
    file: '../../run/src/facts/listed-cells.ts',
    find: 'reader: batches[step], source: batches[dependency.on] }',
    replace: 'reader: undefined, source: batches[dependency.on] }',
    among: hasLists,
  },
  {
    name: 'starts what reads a list of cells when the first of them has ended',
    seed: 224,
    file: '../../run/src/scheduler/state/match-table.ts',
    find: '    edge.open[group]! += Math.max(0, size - 1);\n',
    replace: '',
    among: hasLists,
  },
  {
    name: 'starts an item when another one of its list has ended',
    seed: 133,
    file: '../../run/src/scheduler/state/match-table.ts',
    find: 'resolved(reader, of.memberAt(readers[at]!, place));',
    replace: 'for (const member of of.members(readers[at]!)) resolved(reader, member);',
    among: hasLists,
  },
  {
    name: 'waits for the cell of an empty list',
    file: '../../run/src/scheduler/flow/list-flow.ts',
    find: '  if (size === 0) {\n',
    replace: '  if (size === 0 && run.cellCount[step] === 0) {\n',
    among: hasLists,
  },
  {
    name: 'adopts no run with cells that the plan does not know',
    seed: 1200,
    file: 'run/adopt-run.ts',
    find: 'step.cells !== undefined && batches[step.index] === undefined;',
    replace: 'step.cells !== undefined && batches !== undefined;',
    among: has('lose'),
  },
  {
    name: 'compares a directory with what its cells are when it is first mounted',
    file: 'data/input-trees.ts',
    find: 'if (steps[step]!.step.each === undefined) return false;',
    replace: 'if (steps[step] !== undefined) return false;',
    within: [CHANGED_CELLS],
  },
];
