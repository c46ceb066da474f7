import { alignNames } from './align-names.ts';
import { type AlignedStep, alignSteps } from './align-steps.ts';
import { FAILED } from './statuses.ts';

/** A step or a cell by its indexes. */
interface RowPlace {
  readonly step: number;
  readonly cell?: number | undefined;
}

/** A step of two runs, or one of its cells. */
export interface PairedRow {
  readonly step: string;
  /** The name of the cell; undefined for the step. */
  readonly cell?: string;
  /** Its indexes in each run; undefined where a run does not have it. */
  readonly places: readonly [RowPlace | undefined, RowPlace | undefined];
}

/** What the cells of a step are aligned by, in each run. */
export interface PairedCells {
  readonly names: readonly [readonly string[], readonly string[]];
  readonly codes: readonly [Uint8Array, Uint8Array];
}

/** The steps of two plans, each followed by its cells if `cellsOf` has some. */
export function pairRows(
  plans: Parameters<typeof alignSteps>,
  cellsOf: (step: AlignedStep) => PairedCells | undefined,
): PairedRow[] {
  return alignSteps(...plans).flatMap((step): PairedRow[] => {
    const cells = cellsOf(step);
    const [a, b] = step.places;
    const row: PairedRow = { step: step.name, places: [placeOfStep(a), placeOfStep(b)] };
    return cells === undefined ? [row] : [row, ...pairCells(step, cells)];
  });
}

/** The cells of one name in one row, first those that failed in one of the runs. */
function pairCells({ name: step, places: [a, b] }: AlignedStep, { names, codes }: PairedCells): PairedRow[] {
  const [failed, others]: [PairedRow[], PairedRow[]] = [[], []];
  for (const { name, places } of alignNames(...names)) {
    const hasFailed = places.some((cell, run) => cell !== undefined && codes[run]![cell] === FAILED);
    const row: PairedRow = { step, cell: name, places: [placeOfCell(a, places[0]), placeOfCell(b, places[1])] };
    (hasFailed ? failed : others).push(row);
  }
  return failed.concat(others);
}

function placeOfStep(step: number | undefined): RowPlace | undefined {
  return step === undefined ? undefined : { step };
}

function placeOfCell(step: number | undefined, cell: number | undefined): RowPlace | undefined {
  return step === undefined || cell === undefined ? undefined : { step, cell };
}
