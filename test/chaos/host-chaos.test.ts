import { expect, test } from 'vitest';
import { createRandom } from '../../packages/run/test/random.ts';
import { causeHostChaos } from './host-chaos-rig.ts';
import { causeServerChaos } from './server-chaos-rig.ts';

/** The long form is `node bench/host-chaos.mjs`, which sets these. */
const { SLUICE_HOST_KILLS, SLUICE_HOST_RUNS, SLUICE_HOST_KIND, SLUICE_SEED } = process.env;
const causeChaos = SLUICE_HOST_KIND === 'server' ? causeServerChaos : causeHostChaos;
const isSoak = process.env.SLUICE_SOAK === 'true';
const SEED = SLUICE_SEED ?? String(Date.now() % 1_000_000);
const HOURS = 6 * 3_600_000;

test('detached runs lose nothing and start nothing twice if their host is killed', { timeout: HOURS }, async () => {
  const result = await causeChaos({
    random: createRandom(SEED),
    runs: Number(SLUICE_HOST_RUNS ?? (isSoak ? 20 : 5)),
    kills: Number(SLUICE_HOST_KILLS ?? (isSoak ? 12 : 4)),
    ...{ layers: 2, width: 4 },
  });
  const { ledger, statuses, marked, published, expected, kills } = result;
  console.log(`host-chaos.test.ts: seed ${SEED}: ${JSON.stringify({ kills, started: ledger.started })}`);
  expect(
    statuses.filter((status) => status !== 'succeeded'),
    `seed ${SEED}`,
  ).toEqual([]);
  expect(ledger, `seed ${SEED}`).toMatchObject({ lost: [], doubled: [], repeated: [] });
  expect({ marked, published }, `seed ${SEED}`).toEqual({ marked: 0, published: expected });
});
