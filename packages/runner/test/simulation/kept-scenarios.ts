import { readFileSync } from 'node:fs';
import { OWN_DIALECT } from './dialect.ts';
import { CALM } from './faults.ts';
import type { Scenario } from './scenario.ts';

/** A scenario that has failed once, and what it found. */
export interface KeptScenario {
  readonly found: string;
  readonly scenario: Scenario;
}

/**
 * Tried again for ever. They are kept whole, not as seeds, whose meaning changes with what is drawn from them; what has
 * been added to scenarios since is absent from the older ones.
 */
export const KEPT_SCENARIOS: readonly KeptScenario[] = (
  JSON.parse(readFileSync(new URL('kept-scenarios.json', import.meta.url), 'utf8')) as KeptScenario[]
).map(({ found, scenario }) => ({
  found,
  scenario: {
    ...scenario,
    pools: scenario.pools ?? {},
    bursts: scenario.bursts ?? [],
    dialect: { ...OWN_DIALECT, ...scenario.dialect },
    faults: { ...CALM, ...scenario.faults },
  },
}));
