import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContainerService, ContainerSpec } from '@sluice/client';
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeEngine } from '../fakes/fake-engine.ts';
import { openRig, PRINCIPAL, type Rig, SCOPE } from '../service-rig.ts';

export let engine: FakeEngine;
export let rig: Rig;
export let service: ContainerService;

/** Gives each test of the file a service of its own, whose cluster `one` has four cores and runs on `engine`. */
export function openContainerRig(): void {
  beforeEach(async () => {
    engine = new FakeEngine();
    const other = new FakeEngine();
    rig = await openRig({
      cores: 4,
      engine: 'fake',
      engines: { fake: ({ clusterID }) => (clusterID === 'one' ? engine : other) },
    });
    service = rig.service.inProcess(PRINCIPAL);
  });
  afterEach(() => rig.close());
}

/** Closes the service, and opens another one on the same data. */
export async function restart(): Promise<void> {
  await rig.restart();
  // The first sweep has set its timer, which virtual time would pass otherwise.
  await nextTurn();
  service = rig.service.inProcess(PRINCIPAL);
}

export const ref = (id: string) => ({ ...SCOPE, id });
export const create = (id: string, spec: Partial<ContainerSpec> = {}) =>
  service.containers.create(SCOPE, { instanceType: 'small', command: ['x'], ...spec }, { containerID: id });
export const get = (id: string) => service.containers.get(ref(id));
export const phase = async (id: string) => (await get(id)).phase;
export const reaches = (id: string, wanted: string) => expect.poll(() => phase(id), { interval: 2 }).toBe(wanted);
export const launched = (id: string) =>
  expect
    .poll(() => [...engine.launched.values()].some((launch) => launch.containerID === id), { interval: 2 })
    .toBe(true);
