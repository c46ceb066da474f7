import { fail, ok, type Result } from '@sluice/core';
import type { SiteLimits } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { describeSystemError } from '../context/describe-system-error.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { checkHome } from '../home/check-home.ts';
import { findHome, makeHome } from '../home/home.ts';
import type { ChosenService } from './choose-service.ts';
import type { OpenedService } from './opened-service.ts';

/** A service with the home where a command keeps its runs, and the limits of the site. */
export interface HomeService extends OpenedService {
  readonly home: string;
  readonly limits?: SiteLimits;
  /** For the user: how this machine runs containers. */
  readonly warnings?: readonly string[];
}

/** Why the embedded service does not have the requested cluster or account; undefined if it has. */
export function findScopeFault({ cluster = 'local', account = 'local' }: GlobalOptions): string | undefined {
  const unknown = [
    ...(cluster === 'local' ? [] : [`cluster ${cluster}`]),
    ...(account === 'local' ? [] : [`account ${account}`]),
  ];
  if (unknown.length === 0) return undefined;
  return `could not use ${unknown.join(' and ')}: the embedded service has one cluster and one account, both named local; name another service with --service or in the profile`;
}

/** Prints the warnings of a service to stderr. Only commands that start containers call this. */
export function showWarnings(opened: HomeService, context: CommandContext): void {
  for (const warning of opened.warnings ?? []) context.terminal.err(`warning: ${warning}\n`);
}

/** Warns about a profile that was found but is not applied. */
export function showIgnored({ ignored }: ChosenService, { terminal }: CommandContext): void {
  if (ignored !== undefined) terminal.err(`warning: ${ignored}\n`);
}

/**
 * Opens the service that was named, else the embedded service of the home, which is created if necessary. The caller
 * closes it.
 */
export async function openService(
  options: GlobalOptions,
  context: CommandContext,
): Promise<Result<HomeService, CommandRefusal>> {
  const home = findHome(context, options);
  try {
    await makeHome(home);
  } catch (error) {
    const message = `could not use ${home} as the home: ${describeSystemError(error)}`;
    return fail({ exitCode: EXIT_CODE.refused, message });
  }
  // Checked again: another user may have created it in the meantime.
  const checked = checkHome(context, options);
  if (!checked.ok) return checked;
  const { chooseService } = await import('./choose-service.ts');
  const chosen = chooseService(options, context);
  if (!chosen.ok) return chosen;
  const { url, profile } = chosen.value;
  const limits = profile.limits && { limits: profile.limits };
  if (url !== undefined) {
    const { openRemoteService } = await import('./open-remote-service.ts');
    showIgnored(chosen.value, context);
    const opened = await openRemoteService(url, { profile, flags: options, env: context.env });
    return opened.ok ? ok({ ...opened.value, home, ...limits }) : opened;
  }
  const fault = findScopeFault(options);
  if (fault !== undefined) return fail({ exitCode: EXIT_CODE.refused, message: fault });
  try {
    const { openEmbeddedService } = await import('../embedded/embedded-service.ts');
    return ok({ ...(await openEmbeddedService(home, { cores: options.cpu })), home, ...limits });
  } catch (error) {
    return fail({
      exitCode: EXIT_CODE.unreachable,
      message: `could not open the embedded service of ${home}: ${describeSystemError(error)}`,
    });
  }
}
