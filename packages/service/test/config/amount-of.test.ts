import { expect, test } from 'vitest';
import { amountOf } from '../../src/config/amount-of.ts';
import { capacitySchema } from '../../src/config/service-config.ts';

test.each([
  ['1GB', 1],
  ['1.9GB', 1],
  ['1GiB', 1],
  ['64GiB', 68],
  ['64000MB', 64],
  ['1.5TB', 1500],
])('%s of memory are %d GB of 10^9 bytes, as in a pipeline file', (memory, memoryGB) => {
  expect(amountOf(capacitySchema.parse({ cpu: 2, memory }))).toEqual({ cores: 2, memoryGB, gpus: 0 });
});

test.each(['4', '4G', '0GB', '999MB', 'GB', '-1GB', 4, null])('%s is no memory', (memory) => {
  expect(capacitySchema.safeParse({ cpu: 2, memory }).success).toBe(false);
});
