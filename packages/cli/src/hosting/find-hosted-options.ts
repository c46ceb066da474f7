import { readCustody, readRunOrder, runCustody } from '@sluice/home';
import { type HostedOptions, pickHostedOptions } from '../connect/hosted-options.ts';

/** The options that select the service of a run: those of its custody, else those of its order. */
export async function findHostedOptions(home: string, runId: string): Promise<HostedOptions> {
  const custody = await readCustody(runCustody(home, runId));
  if (custody.state === 'host') return custody.options;
  const order = await readRunOrder(home, runId);
  return order === undefined ? {} : pickHostedOptions(order);
}
