import type { Account } from '@sluice/client';
import { expect, it } from 'vitest';
import type { ServiceConfigInput } from '../../src/config/service-config.ts';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { createRandom, pick } from '../mutate-text.ts';
import { openRig, type Rig } from '../service-rig.ts';

const SEED = Number(process.env.SLUICE_LIST_SEED ?? Date.now() % 1e9);
const SEEDS = process.env.SLUICE_SOAK === 'true' ? 40 : 4;
/** Names of which one is another with an ending, in each order of their next characters. */
const ENDINGS = ['', '-', '-2', '0', '-a', 'a', '--', 'z9'];

/** The lists of a service, as a client pages through them. */
interface Lists {
  readonly rig: Rig;
  readonly accounts: readonly Account[];
}

it('list: the volumes of hpc and hpc-2 are complete, each once, with every page size', async () => {
  const lists = await openLists(['hpc', 'hpc-2'], ['grid', 'grid-a']);
  try {
    const expected = await fill(lists, 2);
    for (let pageSize = 1; pageSize <= expected.length + 1; pageSize++) await check(lists, { expected, pageSize });
  } finally {
    await lists.rig.close();
  }
});

it.each(Array.from({ length: SEEDS }, (_, i) => SEED + i))(
  'list: every wildcard returns everything once, whatever the names, SLUICE_LIST_SEED=%d',
  async (seed) => {
    const random = createRandom(seed);
    const names = () => [
      ...new Set(Array.from({ length: 4 }, () => pick(['a', 'a-', '0'], random) + pick(ENDINGS, random))),
    ];
    const lists = await openLists(names(), names());
    try {
      const expected = await fill(lists, 1 + Math.floor(random() * 3));
      for (const pageSize of [1, 2, 1 + Math.floor(random() * expected.length)])
        await check(lists, { expected, pageSize });
    } finally {
      await lists.rig.close();
    }
  },
);

async function openLists(clusterIDs: readonly string[], accountIDs: readonly string[]): Promise<Lists> {
  const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
  const clusters = clusterIDs.map((id): ServiceConfigInput['clusters'][number] => {
    return { id, engine: 'fake', accounts: [...accountIDs], instanceTypes };
  });
  const rig = await openRig({ engines: { fake: () => new FakeEngine() }, config: { clusters } });
  return {
    rig,
    accounts: clusterIDs.flatMap((clusterID) => accountIDs.map((accountID) => ({ clusterID, accountID }))),
  };
}

/** Creates volumes and containers in every account, in turns; returns the volumes. */
async function fill({ rig, accounts }: Lists, each: number): Promise<string[]> {
  const service = rig.service.inProcess({ userId: 'u', accounts });
  const volumes: string[] = [];
  for (let i = 0; i < each; i++) {
    for (const account of accounts) {
      await service.volumes.create(account, { volumeID: `v-${i}` });
      await service.containers.create(account, { instanceType: 'small', command: ['x'] }, { containerID: `c-${i}` });
      volumes.push(`${account.clusterID}/${account.accountID}/v-${i}`);
    }
  }
  return volumes;
}

async function check({ rig, accounts }: Lists, { expected, pageSize }: { expected: string[]; pageSize: number }) {
  const service = rig.service.inProcess({ userId: 'u', accounts });
  const clusterIDs = ['-', ...new Set(accounts.map(({ clusterID }) => clusterID))];
  const accountIDs = ['-', ...new Set(accounts.map(({ accountID }) => accountID))];
  const story = `of ${expected.join(' ')} with pageSize ${pageSize}`;
  for (const clusterID of clusterIDs) {
    const ofCluster = accounts.filter((account) => clusterID === '-' || account.clusterID === clusterID);
    const discovered = await service.discovery.listAccounts(clusterID);
    expect(discovered.map(nameOf).sort(), story).toEqual(ofCluster.map(nameOf).sort());
    const types = await service.discovery.listInstanceTypes(clusterID);
    expect(types.map((type) => type.clusterID).sort(), story).toEqual(
      [...new Set(ofCluster.map((one) => one.clusterID))].sort(),
    );
    for (const accountID of accountIDs) {
      const own = (name: string) => matches(name.split('/'), [clusterID, accountID]);
      const listed: string[] = [];
      for await (const volume of service.volumes.list({ clusterID, accountID }, { pageSize })) {
        listed.push(`${nameOf(volume)}/${volume.id}`);
        // A list that starts again would never end.
        if (listed.length > expected.length) break;
      }
      expect(listed.toSorted(), `${clusterID}/${accountID} ${story}`).toEqual(expected.filter(own).sort());
      // The order of accounts is the one of their volumes.
      expect([...new Set(listed.map((name) => name.slice(0, name.lastIndexOf('/'))))]).toEqual(
        discovered.map(nameOf).filter(own),
      );
      if (clusterID === '-' || accountID === '-') continue;
      const containers: string[] = [];
      for await (const { id } of service.containers.list({ clusterID, accountID }, { pageSize, all: true }))
        containers.push(id);
      expect(containers, story).toEqual(listed.map((name) => name.replace(/^.*\/v-/, 'c-')));
    }
  }
}

function nameOf({ clusterID, accountID }: Account): string {
  return `${clusterID}/${accountID}`;
}

function matches(names: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((one, i) => one === '-' || one === names[i]);
}
