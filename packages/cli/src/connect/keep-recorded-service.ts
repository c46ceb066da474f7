import { readRunOrder } from '@sluice/home';
import type { GlobalOptions } from '../context/command-context.ts';

/**
 * The options of a command about a run, with the service that the run recorded when it started: only that service has its
 * containers and volumes, whatever the variables select now. A service, profile or engine that the options name is kept.
 */
export async function keepRecordedService<O extends GlobalOptions>(
  home: string,
  runId: string,
  options: O,
): Promise<O> {
  if (options.service !== undefined || options.profile !== undefined || options.engine !== undefined) return options;
  const order = await readRunOrder(home, runId);
  if (order === undefined) return options;
  const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const { service, profile, account, cluster, engine } = order;
  const recorded = Object.entries({ service, profile, account, cluster, engine }).filter(
    ([, value]) => value !== undefined,
  );
  return { ...options, ...Object.fromEntries(recorded), ...named, isRecorded: true };
}
