import { describe, expect, it } from 'vitest';
import { createLoginThrottle } from '../../src/accounts/login-throttle.ts';
import { VirtualClock } from '../fakes/virtual-clock.ts';

const clock = new VirtualClock();

describe('createLoginThrottle', () => {
  it('counts all addresses of an IPv6 network as one, and both notations of an IPv4 address', () => {
    const throttle = createLoginThrottle(clock);
    const account = 'ada@example.org';
    for (let i = 1; i <= 10; i++) throttle.failed({ account, address: `2001:db8:1:2:${i}::${i}` });
    expect(throttle.waitMs({ account, address: '2001:DB8:1:2::ffff' })).toBeGreaterThan(0);
    expect(throttle.waitMs({ account, address: '2001:db8:1:3::1' })).toBe(0);
    expect(throttle.waitMs({ account: 'bob@example.org', address: '2001:db8:1:2::1' })).toBe(0);
    for (let i = 1; i <= 10; i++) throttle.failed({ account, address: '192.0.2.1' });
    expect(throttle.waitMs({ account, address: '::ffff:192.0.2.1' })).toBeGreaterThan(0);
    expect(throttle.waitMs({ account, address: '192.0.2.2' })).toBe(0);
    expect(throttle.waitMs({ account, address: 'local' })).toBe(0);
  });

  it('blocks an address that fails with many accounts, and clears an account after a success', () => {
    const throttle = createLoginThrottle(clock);
    const address = '192.0.2.1';
    for (let i = 0; i < 50; i++) throttle.failed({ account: `a${i}`, address });
    expect(throttle.waitMs({ account: 'new', address })).toBeGreaterThan(0);
    expect(throttle.waitMs({ account: 'a1', address: '192.0.2.2' })).toBe(0);
    const other = { account: 'a', address: '192.0.2.3' };
    for (let i = 0; i < 10; i++) throttle.failed(other);
    throttle.succeeded(other);
    expect(throttle.waitMs(other)).toBe(0);
  });

  it('drops the oldest entries beyond its limit', () => {
    const throttle = createLoginThrottle(clock);
    const first = { account: 'a', address: '192.0.2.1' };
    for (let i = 0; i < 10; i++) throttle.failed(first);
    for (let i = 0; i < 50_000; i++) throttle.failed({ account: `a${i}`, address: `h${i}` });
    expect(throttle.waitMs(first)).toBe(0);
  });
});
