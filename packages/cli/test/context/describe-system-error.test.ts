import { expect, test } from 'vitest';
import { describeSystemError } from '../../src/context/describe-system-error.ts';

test('describeSystemError adds what a person can do where that is known', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(describeSystemError(full)).toBe(`${full.message}; free space on that disk, for example with: sluice gc`);
  expect(describeSystemError(new Error('no such thing'))).toBe('no such thing');
});
