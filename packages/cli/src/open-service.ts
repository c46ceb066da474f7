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
