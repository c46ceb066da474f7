import type { Capacity } from './service-config.ts';

/** What an instance type or a capacity of the configuration comes to, as rows and the protocol count it. */
export function amountOf({ cpu, memory, gpus }: Capacity): {
  readonly cores: number;
  readonly memoryGB: number;
  readonly gpus: number;
} {
  const [, count, unit] = /^(\d+)(GB|TB)$/.exec(memory) ?? [];
  return { cores: cpu, memoryGB: Number(count) * (unit === 'TB' ? 1000 : 1), gpus };
}
