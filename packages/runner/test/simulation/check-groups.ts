import type { SimulatedRun } from './live-run.ts';

/** Watches the concurrency group of a world: at each start, containers of no more runs live than it has room for. */
export function createGroupChecker(
  limit: number,
  runs: readonly SimulatedRun[],
  violations: string[],
): { onCreated(id: string): void } {
  return {
    onCreated(id) {
      const live = runs.filter(({ checker }) => checker.live().length > 0);
      if (live.length <= limit) return;
      violations.push(
        `${id} is one too many: the group has room for ${limit}, and containers of ${live.length} runs live`,
      );
    },
  };
}
