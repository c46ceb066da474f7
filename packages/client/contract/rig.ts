import { randomBytes } from 'node:crypto';
import {
  type Container,
  type ContainerListItem,
  isServiceError,
  isTerminalPhase,
  type Ref,
  type ServiceErrorCode,
  type Volume,
} from '@sluice/client';
import { expect } from 'vitest';
import type { ContainerPlan, ServiceUnderTest, UnderTest } from './service-under-test.ts';
import { until } from './until.ts';

/** A fresh ID that says which test it belongs to. */
export function freshId(name: string): string {
  return `${name}-${randomBytes(5).toString('hex')}`;
}

/** The thing of this ID in the scope under test. */
export function refOf(sut: ServiceUnderTest, id: string): Ref {
  return { ...sut.scope, id };
}

/** Creates a container that follows `plan`. */
export async function start(open: UnderTest, plan: ContainerPlan, name = 'c'): Promise<Ref> {
  const sut = open();
  const id = freshId(name);
  await sut.service.containers.create(sut.scope, sut.spec(plan), { containerID: id });
  return refOf(sut, id);
}

/** Waits for one of `phases`. */
export async function reach(sut: ServiceUnderTest, ref: Ref, ...phases: string[]): Promise<Container> {
  return until(`container ${ref.id} in phase ${phases.join(' or ')}`, async () => {
    const container = await sut.service.containers.get(ref);
    if (phases.includes(container.phase ?? '')) return container;
    if (isTerminalPhase(container.phase ?? '')) {
      throw new Error(`Container ${ref.id} ended ${container.phase} (${container.state}), not ${phases.join(' or ')}`);
    }
    return undefined;
  });
}

/** Waits for the container's end, whichever it is. */
export async function ended(sut: ServiceUnderTest, ref: Ref): Promise<Container> {
  return until(`the end of container ${ref.id}`, async () => {
    const container = await sut.service.containers.get(ref);
    return isTerminalPhase(container.phase ?? '') && container;
  });
}

/** Makes a volume and waits until it can be used. */
export async function makeVolume(sut: ServiceUnderTest, name = 'v'): Promise<Volume> {
  const volume = await sut.service.volumes.create(sut.scope, { volumeID: freshId(name), transfer: true });
  await until(`volume ${volume.id} available`, async () => (await findVolume(sut, volume.id))?.phase === 'Available');
  return volume;
}

/** The volume's entry in the list. */
export async function findVolume(sut: ServiceUnderTest, id: string): Promise<Volume | undefined> {
  for await (const volume of sut.service.volumes.list(sut.scope)) if (volume.id === id) return volume;
  return undefined;
}

/** Asserts that `call` is rejected with one of `codes`, and gives the error. */
export async function rejected(call: Promise<unknown>, ...codes: ServiceErrorCode[]): Promise<Error> {
  const outcome = await call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  if (!isServiceError(outcome)) throw new Error(`Expected ${codes.join(' or ')}, but: ${String(outcome)}`);
  expect(codes, outcome.message).toContain(outcome.code);
  return outcome;
}

/** All items of a list, in order. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** The IDs of the containers that the account has. */
export async function containerIds(sut: ServiceUnderTest): Promise<string[]> {
  const items: ContainerListItem[] = await all(sut.service.containers.list(sut.scope, { all: true, pageSize: 1000 }));
  return items.map((it) => it.id).sort();
}

/** All bytes of a stream. */
export async function bytes(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await all(stream));
}
