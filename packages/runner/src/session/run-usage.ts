import type { Json } from '@sluice/core';
import type { RunFacts } from '@sluice/run';
import { createListedCounts, type ListedCounts } from './listed-counts.ts';
import type { RunAllowance } from './run-allowance.ts';

/** Counts what a run uses of a process that executes the runs of others. Without an allowance, everything is allowed. */
export interface RunUsage {
  /** Why a step must not have so many cells. If it may, they count from now on. */
  addCells(step: number, cells: number): string | undefined;
  readonly listed: ListedCounts;
  /** For the results of one attempt. */
  holdResults(): HeldResults;
}

/** Bytes of results that are being read, and stay in memory if they are not released. */
export interface HeldResults {
  /** Counts more of them. Returns why there must not be more; then nothing is counted. */
  take(bytes: number): string | undefined;
  /** None of them is kept. */
  release(): void;
}

/** Reads what an earlier process has recorded, when it is needed. */
export function createRunUsage(
  facts: Pick<RunFacts, 'cells' | 'known' | 'batches'>,
  allowance: RunAllowance | undefined,
): RunUsage {
  const listed = createListedCounts(facts);
  if (allowance === undefined) {
    return { listed, addCells: () => undefined, holdResults: () => ({ take: () => undefined, release: () => {} }) };
  }
  let cells: number | undefined;
  let bytes: number | undefined;
  return {
    listed,
    addCells(step, wanted) {
      cells ??= facts.cells.reduce((sum, known) => sum + (known?.length ?? 1), 0);
      const next = cells - (facts.cells[step]?.length ?? 1) + wanted;
      const most = allowance.maxCells();
      if (next > most) {
        return `it yields ${wanted} items: the run would have ${next} cells, and this server allows ${most} (\`runs.steps\`)`;
      }
      cells = next;
      return undefined;
    },
    holdResults() {
      const most = allowance.maxResultBytes;
      let held = 0;
      return {
        take(size) {
          bytes ??= measureResults(facts);
          if (bytes + size > most) {
            return `the results of all steps of a run may have ${most} bytes together on this server (${most / 2 ** 20} MiB)`;
          }
          bytes += size;
          held += size;
          return undefined;
        },
        release() {
          bytes = (bytes ?? 0) - held;
          held = 0;
        },
      };
    },
  };
}

function measureResults({ known }: Pick<RunFacts, 'known'>): number {
  let bytes = 0;
  for (const row of known) {
    for (const cell of row) for (const value of Object.values(cell?.results ?? {})) bytes += sizeOfJson(value);
  }
  return bytes;
}

/** About the length of the JSON text, without writing it. */
export function sizeOfJson(value: Json): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value as readonly Json[]) size += sizeOfJson(item) + 1;
  else for (const [key, item] of Object.entries(value)) size += key.length + 4 + sizeOfJson(item as Json);
  return size;
}
