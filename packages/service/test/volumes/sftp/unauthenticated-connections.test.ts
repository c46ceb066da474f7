import { expect, test } from 'vitest';
import { UnauthenticatedConnections } from '../../../src/volumes/sftp/unauthenticated-connections.ts';

function rig() {
  const connections = new UnauthenticatedConnections();
  const cut: string[] = [];
  const add = (address: string, name = address) => connections.add({ address, cut: () => cut.push(name) });
  const addMany = (count: number, addressOf: (index: number) => string) => {
    for (let index = 0; index < count; index += 1) expect(add(addressOf(index), `${index}`)).toBeDefined();
  };
  return { add, addMany, cut };
}

test('one address that has its hundred shuts out nobody else', () => {
  const { add, addMany, cut } = rig();
  addMany(99, () => '192.0.2.1');
  const leave = add('192.0.2.1');
  expect(add('192.0.2.1')).toBeUndefined();
  expect(add('::ffff:192.0.2.1')).toBeUndefined();
  expect(add('192.0.2.2')).toBeDefined();
  leave?.();
  leave?.();
  expect(add('192.0.2.1')).toBeDefined();
  expect(add('192.0.2.1')).toBeUndefined();
  expect(cut).toEqual([]);
});

test('a /64 of IPv6 is one address, however it is written', () => {
  const { add, addMany } = rig();
  addMany(100, (index) => `2001:db8:0:1:${index.toString(16)}::1`);
  for (const same of ['2001:db8:0:1::', '2001:db8::1:2:3:4:5', '2001:0db8:0000:0001:0:0:0:9', '2001:DB8:0:1::7%eth0']) {
    expect(add(same), same).toBeUndefined();
  }
  for (const other of ['2001:db8:0:2::1', '2001:db8:1::1', '::1', 'fe80::1']) expect(add(other), other).toBeDefined();
});

test('where all addresses together have too many, the oldest of the one with the most is cut', () => {
  const { add, addMany, cut } = rig();
  addMany(50, () => '192.0.2.1');
  addMany(950, (index) => `198.51.${Math.floor(index / 40)}.${index % 40}`);
  expect(cut).toEqual([]);
  expect(add('203.0.113.1')).toBeDefined();
  expect(add('203.0.113.2')).toBeDefined();
  expect(cut).toEqual(['0', '1']);
});
