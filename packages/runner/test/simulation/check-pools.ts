import type { SimulatedRun } from './live-run.ts';

/** Watches the pools that the runs of a world share: at each start, what lives holds no more than there is. */
export function createPoolChecker(
  pools: Readonly<Record<string, number>>,
  runs: readonly SimulatedRun[],
  violations: string[],
): { onCreated(id: string): void } {
  return {
    onCreated(id) {
      for (const [pool, size] of Object.entries(pools)) {
        const held = runs.flatMap(({ checker, plan }) =>
          checker.live().map((step) => plan.steps[step]?.step.pools[pool] ?? 0),
        );
        const used = held.reduce((sum, tokens) => sum + tokens, 0);
        if (used > size)
          violations.push(`${id} is one too many: pool ${pool} has ${size} tokens, and ${used} are held`);
      }
    },
  };
}
