import { readRunOrder } from '@sluice/home';
import { readMark } from '@sluice/host';
import { type HostedOptions, pickHostedOptions } from '../connect/hosted-options.ts';

/** The options that select the service of a run: those of its mark, else those of its order. */
export async function findHostedOptions(home: string, runId: string): Promise<HostedOptions> {
  const mark = await readMark(home, runId);
  if (mark !== undefined) return mark.options;
  const order = await readRunOrder(home, runId);
  return order === undefined ? {} : pickHostedOptions(order);
}
