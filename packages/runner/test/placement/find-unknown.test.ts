import { type ContainerService, ServiceError, type Volume } from '@sluice/client';
import { expect, test } from 'vitest';
import { createHandPlan, createStep } from '../../../run/test/plans.ts';
import { findUnknown } from '../../src/placement/find-unknown.ts';

const scope = { clusterID: 'east', accountID: 'me' };
const bare = createHandPlan([createStep('s')]);
const plan = { ...bare, pipeline: { ...bare.pipeline, volumes: { data: { id: 'v-1', retain: true } } } };

function service(accounts: readonly string[] | ServiceError, volumes: readonly string[] | ServiceError) {
  const orThrow = <T>(value: T | ServiceError): T => {
    if (value instanceof ServiceError) throw value;
    return value;
  };
  return {
    discovery: {
      listAccounts: async () => orThrow(accounts).map((accountID) => ({ clusterID: 'east', accountID })),
    },
    volumes: {
      async *list() {
        for (const id of orThrow(volumes)) yield { id, ...scope } as Volume;
      },
    },
  } as unknown as ContainerService;
}

test('findUnknown names an account and a volume that the service does not have', async () => {
  expect(await findUnknown({ plan, scope, service: service(['me'], ['v-1']) })).toBeUndefined();
  expect(await findUnknown({ plan, scope, service: service(['you', 'they'], []) })).toBe(
    'could not find account me on cluster east: there this login has you, they',
  );
  const absent = new ServiceError('NOT_FOUND', 'no cluster east');
  expect(await findUnknown({ plan, scope, service: service(absent, []) })).toMatch(/has no account there$/);
  expect(await findUnknown({ plan, scope, service: service(['me'], ['v-2']) })).toMatch(
    /^could not find volume data: the service has no volume v-1 /,
  );
});

test('findUnknown asks for no volumes where none is named, and rejects nothing that it may not ask', async () => {
  const rejected = new ServiceError('PERMISSION_DENIED', 'not yours');
  expect(await findUnknown({ plan, scope, service: service(rejected, rejected) })).toBeUndefined();
  const broken = new ServiceError('UNAVAILABLE', 'down');
  expect(await findUnknown({ plan: bare, scope, service: service(['me'], broken) })).toBeUndefined();
  await expect(findUnknown({ plan, scope, service: service(['me'], broken) })).rejects.toBe(broken);
});
