import type { ServerMark } from '@sluice/home';
import type { GlobalOptions } from '../context/command-context.ts';

/** The options with which a command reaches the server of a run, whatever service the command would use otherwise. */
export function serverOptions<O extends GlobalOptions>(options: O, mark: ServerMark | undefined): O {
  if (mark === undefined) return options;
  const { service, cluster, account, profile = options.profile } = mark;
  return {
    ...options,
    service,
    cluster,
    account,
    ...(profile !== undefined && { profile: options.profile ?? profile }),
  };
}
