import type { ServerPlace } from '@sluice/home';
import type { GlobalOptions } from '../context/command-context.ts';

/** The options with which a command reaches the server of a run, whatever service the command would use otherwise. */
export function serverOptions<O extends GlobalOptions>(options: O, place: ServerPlace): O {
  const { service, cluster, account, profile = options.profile } = place;
  return {
    ...options,
    service,
    cluster,
    account,
    ...(profile !== undefined && { profile: options.profile ?? profile }),
  };
}
