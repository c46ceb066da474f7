import type { CellChange } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { codeOf, codeOfLetter, STATUSES } from './statuses.ts';

/** The states of all cells of a run at one position of its journal. `applyChanges` changes it in place. */
export interface RunModel {
  position: number;
  /** Grows with each change: what was computed from the model of an earlier version is out of date. */
  version: number;
  /** For each step one code per cell; empty while the cells of a `foreach` are unknown. */
  readonly cells: Uint8Array<ArrayBuffer>[];
  /** The number of the step's cells by code: `CODES` entries for each step. */
  readonly counts: Uint32Array<ArrayBuffer>;
}

/** The number of status codes. */
const CODES: number = STATUSES.length;

/** The model of a reply of `/states`, or of a `snapshot` event. */
export function createRunModel({ position, states }: { position: number; states: readonly string[] }): RunModel {
  const cells = states.map((letters) => Uint8Array.from(letters, (letter) => codeOfLetter(letter.charCodeAt(0))));
  const counts = new Uint32Array(cells.length * CODES);
  cells.forEach((codes, step) => {
    for (const code of codes) counts[step * CODES + code]! += 1;
  });
  return { position, version: 0, cells, counts };
}

/** Applies changes that follow the model's position, up to `position`. Ignores those that it contains already. */
export function applyChanges(model: RunModel, changes: readonly CellChange[], position: number): void {
  const known = model.position;
  for (const [at, , step, cell, status, , reused] of changes) {
    if (at > known) setCell(model, { step, cell, code: codeOf(status, reused) });
  }
  model.position = Math.max(known, position);
}

/** Sets the state of one cell. Cells of a `foreach` that become known are added; those between are waiting. */
export function setCell(
  model: RunModel,
  { step, cell, code }: { readonly step: number; readonly cell: number; readonly code: number },
): void {
  const codes = model.cells[step];
  if (codes === undefined) return;
  const base = step * CODES;
  if (cell >= codes.length) {
    model.counts[base]! += cell + 1 - codes.length;
    model.cells[step] = grow(codes, cell + 1);
  }
  const current = model.cells[step]!;
  model.counts[base + current[cell]!]! -= 1;
  model.counts[base + code]! += 1;
  current[cell] = code;
  model.version += 1;
}

/** The numbers of cells of a step by code. */
export function countsOf({ counts }: RunModel, step: number): Uint32Array {
  return counts.subarray(step * CODES, (step + 1) * CODES);
}

const summaries = new WeakMap<RunModel, { readonly version: number; readonly codes: Uint8Array }>();

/** For each step the code that stands for its cells. Computed once for each version of the model. */
export function stepCodes(model: RunModel): Uint8Array {
  const known = summaries.get(model);
  if (known?.version === model.version) return known.codes;
  const codes = Uint8Array.from(model.cells, (_, step) => summarizeCounts(countsOf(model, step)));
  summaries.set(model, { version: model.version, codes });
  return codes;
}

/** The numbers of all cells by code. */
export function totalCounts({ counts }: RunModel): Uint32Array {
  const total = new Uint32Array(CODES);
  for (let i = 0; i < counts.length; i++) total[i % CODES]! += counts[i]!;
  return total;
}

/** The model in the form of the API's `states`. */
export function lettersOf({ cells }: RunModel): string[] {
  return cells.map((codes) => Array.from(codes, (code) => STATUSES[code]!.letter).join(''));
}

function grow(codes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(length);
  longer.set(codes);
  return longer;
}
