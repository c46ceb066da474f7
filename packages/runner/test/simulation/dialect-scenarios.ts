import { type Dialect, OWN_DIALECT } from './dialect.ts';
import { CALM } from './faults.ts';
import type { Scenario } from './scenario.ts';
import type { StepScript } from './step-script.ts';

const MINUTE = 60_000;

/** One step with many cells, at a service that is well but for its dialect, and gives no hints. */
function createWorld(
  seed: string,
  dialect: Partial<Dialect>,
  { warns, ...step }: Partial<StepScript> & Pick<Scenario, 'warns'> = {},
): Scenario {
  const script: StepScript = {
    name: 'crowd',
    needs: [],
    inputs: [],
    hasOutput: false,
    cells: 8,
    retries: 1,
    continueOnError: false,
    attempts: ['succeed'],
    runMs: 2 * MINUTE,
    ...step,
  };
  return {
    seed,
    runs: [{ steps: [script], failFast: true, mishaps: [] }],
    pools: {},
    dialect: { ...OWN_DIALECT, ...dialect },
    faults: CALM,
    bursts: [],
    hints: false,
    ...(warns && { warns }),
  };
}

/** Worlds of one peculiarity each, in which a runner that does not get on with it asks too often, hangs, or keeps silent. */
export const DIALECT_SCENARIOS: readonly Scenario[] = [
  createWorld('running-only list', { listsOnlyRunning: true }, { cells: 60, pendingMs: 20 * MINUTE, warns: [] }),
  ...([500, 403, 'loops'] as const).flatMap((list) => [
    createWorld(`list ${list}`, { list }, { warns: ['could not list the containers'] }),
    createWorld(`list ${list}, and what is lost`, { list }, { attempts: ['vanish', 'succeed'] }),
  ]),
  createWorld('unknown phase', { unknownPhase: true }, { pendingMs: MINUTE, warns: ['"Warming"'] }),
  createWorld('wrong types', { writesWrongTypes: true }, { warns: ['could not get the state of', 'could not list'] }),
  createWorld('one with wrong types', { writesWrongTypes: true }, { cells: 1, warns: ['nodeID is no text'] }),
];
