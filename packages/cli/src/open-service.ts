import { fail, ok, type Result } from '@sluice/core';
import type { SiteLimits } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from './command-context.ts';
import { describeSystemError } from './describe-system-error.ts';
import { EXIT_CODE } from './exit-code.ts';
import { findHome, makeHome } from './home.ts';
import type { OpenedService } from './opened-service.ts';
import type { Refusal } from './refusal.ts';

/** A service, the home that a command keeps its runs in, and the site's limits for them. */
export interface HomeService extends OpenedService {
  readonly home: string;
  readonly limits?: SiteLimits;
  /** For people, of how this machine runs containers. */
  readonly warnings?: readonly string[];
}

/** Why the embedded service cannot be used where another cluster or account is asked for; undefined where it can. */
export function strangeScope({ cluster = 'local', account = 'local' }: GlobalOptions): string | undefined {
  const strange = [
    ...(cluster === 'local' ? [] : [`cluster ${cluster}`]),
    ...(account === 'local' ? [] : [`account ${account}`]),
  ];
  if (strange.length === 0) return undefined;
  return `Could not use ${strange.join(' and ')}: the embedded service has one cluster and one account, both named local; name another service with --service or in the profile`;
}

/** For the commands that start containers; the others would only repeat it. */
export function showWarnings(opened: HomeService, context: CommandContext): void {
  for (const warning of opened.warnings ?? []) context.terminal.err(`warning: ${warning}\n`);
}

/** The home of a command and the service that it works with: the one that was named, else the home's embedded one. */
export async function openService(
  options: GlobalOptions,
  context: CommandContext,
): Promise<Result<HomeService, Refusal>> {
  const home = findHome(context, options);
  try {
    await makeHome(home);
  } catch (error) {
    const message = `Could not use ${home} as the home: ${describeSystemError(error)}`;
    return fail({ exitCode: EXIT_CODE.refused, message });
  }
  const { readProfile } = await import('./profile.ts');
  const profile = readProfile({ ...options, home }, context);
  if (!profile.ok) return profile;
  const limits = profile.value.limits && { limits: profile.value.limits };
  const url = options.service ?? profile.value.service;
  if (url !== undefined) {
    const { openRemoteService } = await import('./open-remote-service.ts');
    const opened = await openRemoteService(url, { profile: profile.value, flags: options, env: context.env });
    return opened.ok ? ok({ ...opened.value, home, ...limits }) : opened;
  }
  const strange = strangeScope(options);
  if (strange !== undefined) return fail({ exitCode: EXIT_CODE.refused, message: strange });
  try {
    const { openEmbeddedService } = await import('./embedded/embedded-service.ts');
    return ok({ ...(await openEmbeddedService(home, { cores: options.cores })), home, ...limits });
  } catch (error) {
    return fail({
      exitCode: EXIT_CODE.unreachable,
      message: `Could not open the embedded service of ${home}: ${describeSystemError(error)}`,
    });
  }
}
