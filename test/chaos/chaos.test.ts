import { expect, test } from 'vitest';
import { createRandom } from '../../packages/run/test/random.ts';
import { type ChaosOptions, causeChaos } from './chaos-rig.ts';
import { causeGroupChaos } from './group-chaos-rig.ts';

/** The long form is `node bench/chaos.mjs`, which sets these. */
const { SLUICE_RUNNER_KILLS, SLUICE_SERVICE_KILLS, SLUICE_EMBEDDED_KILLS, SLUICE_LAYERS, SLUICE_SEED } = process.env;
/** How much is done: `soak` with `pnpm soak`. */
const effort = (usual: number, soak: number) => (process.env.SLUICE_SOAK === 'true' ? soak : usual);
const GROUP_KILLS = Number(process.env.SLUICE_GROUP_KILLS ?? effort(3, 10));
const SEED = SLUICE_SEED ?? String(Date.now() % 1_000_000);
const LAYERS = Number(SLUICE_LAYERS ?? effort(3, 5));
const WIDTH = 10;
const HOURS = 6 * 3_600_000;

const CASES: readonly (Pick<ChaosOptions, 'runnerKills' | 'serviceKills'> & { readonly name: string })[] = [
  {
    name: 'the runner and the service behind a proxy that delays, cuts and duplicates',
    runnerKills: Number(SLUICE_RUNNER_KILLS ?? effort(5, 14)),
    serviceKills: Number(SLUICE_SERVICE_KILLS ?? effort(2, 5)),
  },
  {
    name: 'the runner with the service that is embedded in it',
    runnerKills: Number(SLUICE_EMBEDDED_KILLS ?? effort(3, 6)),
    serviceKills: 0,
  },
];

test.each(CASES)('nothing is lost and nothing done twice under kills of $name', { timeout: HOURS }, async (given) => {
  const random = createRandom(`${SEED} ${given.name}`);
  const result = await causeChaos({ ...given, random, layers: LAYERS, width: WIDTH, faultRate: 0.1 });
  const { ledger, published, expected, strangeEnds, ...figures } = result;
  console.log(`chaos.test.ts: seed ${SEED}: ${JSON.stringify({ ...figures, started: ledger.started })}`);
  expect(strangeEnds, `seed ${SEED}`).toEqual([]);
  expect(ledger, `seed ${SEED}`).toMatchObject({ lost: [], doubled: [], repeated: [] });
  expect(published, `seed ${SEED}`).toEqual([expected]);
});

const GROUP_CASES = [
  { name: 'runners and their service', runnerKills: GROUP_KILLS, serviceKills: Math.ceil(GROUP_KILLS / 4) },
  { name: 'runners that share an embedded service', runnerKills: GROUP_KILLS, serviceKills: 0 },
];

test.each(GROUP_CASES)(
  'runs of one group take turns under kills of $name, and all end',
  { timeout: HOURS },
  async (given) => {
    const random = createRandom(`${SEED} ${given.name}`);
    const result = await causeGroupChaos({ ...given, random, faultRate: 0.1 });
    const { ledger, succeededRuns, otherRuns, strangeEnds, ...figures } = result;
    console.log(`chaos.test.ts: seed ${SEED}: ${JSON.stringify({ ...figures, succeededRuns, ...ledger })}`);
    expect(strangeEnds, `seed ${SEED}`).toEqual([]);
    expect(otherRuns, `seed ${SEED}`).toEqual([]);
    expect(ledger, `seed ${SEED}`).toEqual({ containers: 2 * succeededRuns, overlaps: [], unended: [] });
    expect(succeededRuns, `seed ${SEED}`).toBeGreaterThan(5);
  },
);
