import type { Claim } from './claims-file.ts';

/** A pool that cannot give what is asked of it. */
export interface Shortage {
  readonly pool: string;
  readonly needed: number;
  readonly used: number;
  readonly size: number;
  /** Who holds its tokens. */
  readonly holders: readonly Claim[];
}

/** The first pool, by name, without room for the request beside these claims; undefined: all of them have it. */
export function findShortage(
  claims: readonly Claim[],
  tokens: Readonly<Record<string, number>>,
  sizes: Readonly<Record<string, number>>,
): Shortage | undefined {
  for (const pool of Object.keys(tokens).sort()) {
    const needed = tokens[pool]!;
    const holders = claims.filter((claim) => (claim.tokens[pool] ?? 0) > 0);
    const used = holders.reduce((sum, claim) => sum + claim.tokens[pool]!, 0);
    const size = sizes[pool] ?? 0;
    if (used + needed > size) return { pool, needed, used, size, holders };
  }
  return undefined;
}

const NAMED = 3;

/** `pool gpu: needs 1, 2 of 2 are held by run x step fit, …`. */
export function describeShortage({ pool, needed, used, size, holders }: Shortage): string {
  const names = holders
    .slice(0, NAMED)
    .map(({ runId, stepName, cellKey }) => `run ${runId} step ${stepName}${cellKey === '' ? '' : `/${cellKey}`}`);
  const more = holders.length > NAMED ? ` and ${holders.length - NAMED} more` : '';
  return `waits for pool ${pool}: needs ${needed}, ${used} of ${size} are held by ${names.join(', ')}${more}`;
}
