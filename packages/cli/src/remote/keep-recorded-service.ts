import { readStartCommand } from '@sluice/home';
import type { GlobalOptions } from '../context/command-context.ts';
import { readRecordedCommand } from '../runs/recorded-command.ts';

/**
 * The options of a command about a run, with the service that the run recorded when it started: only that service has its
 * containers and volumes, whatever the variables select now. A service or profile that the options name is kept.
 */
export async function keepRecordedService<O extends GlobalOptions>(
  home: string,
  runId: string,
  options: O,
): Promise<O> {
  if (options.service !== undefined || options.profile !== undefined) return options;
  const words = await readStartCommand(home, runId);
  if (words === undefined) return options;
  const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...options, ...selectService(words), ...named };
}

function selectService(words: readonly string[]): GlobalOptions {
  try {
    const { service, profile, account, cluster } = readRecordedCommand(words).options;
    const known = Object.entries({ service, profile, account, cluster });
    return Object.fromEntries(known.filter(([, value]) => value !== undefined));
  } catch {
    // Recorded by a later version, with options that this one does not know.
    return {};
  }
}
