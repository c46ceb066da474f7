import type { SourceChange } from '../simulation/plant-bug.ts';

interface PlantedModelBug extends SourceChange {
  readonly name: string;
  /** A seed that finds it: where it is looked for first. */
  readonly seed: number;
}

/** Bugs by which a run delivers wrong data without a word; the model test must find each. */
export const PLANTED_MODEL_BUGS: readonly PlantedModelBug[] = [
  {
    name: 'takes the origin of the first cell for the whole step',
    seed: 0,
    file: '../../run/src/facts/locate-output.ts',
    find: 'const known = facts.known[step]?.[cell];\n  const home',
    replace: 'const known = { ...facts.known[step]?.[cell]!, cached: facts.known[step]?.[0]?.cached };\n  const home',
  },
  {
    name: 'delivers the directory of the first cell only',
    seed: 0,
    file: '../../run/src/report/report-outputs.ts',
    find: 'return locateCells(run, { ...of, cells }).map(',
    replace: 'return locateCells(run, { ...of, cells }).slice(0, 1).map(',
  },
  {
    name: 'mounts the directory of an earlier run whatever cells it has',
    seed: 10,
    file: 'data/find-common-origin.ts',
    find: "if (!first || first.siblings === '' || first.siblings !== describeSiblings(run.facts, step)) return undefined;",
    replace: 'void describeSiblings;\n  if (!first) return undefined;',
  },
  {
    name: 'takes cells in another order for the same cells',
    seed: 10,
    file: '../../home/src/runs/siblings.ts',
    find: 'cells.map((cell) => cell.key)',
    replace: 'cells.map((cell) => cell.key).sort()',
  },
  {
    name: 'leaves the step out of the fingerprint',
    seed: 12,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: '        step: name,\n',
    replace: "        step: '',\n",
  },
  {
    name: 'leaves the pipeline out of the fingerprint',
    seed: 5,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: 'pipeline: session.plan.pipeline.name,',
    replace: "pipeline: '',",
  },
  {
    name: 'leaves the matrix out of the fingerprint',
    seed: 0,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: 'matrix: cell.matrix,',
    replace: 'matrix: {},',
  },
  {
    name: 'leaves the inputs out of the fingerprint',
    seed: 3,
    file: '../../home/src/reuse/fingerprint-cell.ts',
    find: '[input.name, digestInput(session, lineage, input)] as const',
    replace: "[input.name, digestInput.length === 3 ? 'any' : ''] as const",
  },
  {
    name: 'reuses from a run without looking whether the work is the same',
    seed: 3,
    file: '../../home/src/reuse/reusable-run.ts',
    find: 'if (!made.ok || made.value.digest !== digest) return undefined;',
    replace: 'if (!made.ok || digest === undefined) return undefined;',
  },
  {
    name: 'loses the results of what it reuses',
    seed: 0,
    file: '../../run/src/facts/apply-event.ts',
    find: 'cell.results = recorded.cached.results;',
    replace: 'cell.results = {};',
  },
  {
    name: 'lists the cells of a manifest in reverse',
    seed: 0,
    file: 'data/create-manifest.ts',
    find: 'results: facts.known[step]?.[cell]?.results ?? {},\n      };\n    }),',
    replace: 'results: facts.known[step]?.[cell]?.results ?? {},\n      };\n    }).reverse(),',
  },
];
