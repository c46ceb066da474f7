import { parseSize } from '@sluice/core';
import { GB } from '../protocol/sizes.ts';
import type { Capacity } from './service-config.ts';

/**
 * What an instance type or a capacity of the configuration comes to, as rows and the protocol count it: memory in whole GB of
 * 10^9 bytes, rounded down.
 */
export function amountOf({ cpu, memory, gpu }: Capacity): {
  readonly cores: number;
  readonly memoryGB: number;
  readonly gpus: number;
} {
  return { cores: cpu, memoryGB: Math.floor(parseSize(memory) / GB), gpus: gpu };
}
