import type { Result } from '@sluice/core';
import type { GlobalOptions, ServiceContext } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import type { ChosenService } from './choose-service.ts';
import type { RemoteService } from './open-remote-service.ts';
import { reportRequests } from './report-requests.ts';

/** Connects to the chosen service at `url`, and says what it waits for. The caller closes it. */
export async function openChosenService(
  { url, profile, profilePath }: ChosenService & { readonly url: string },
  { options, context }: { readonly options: GlobalOptions; readonly context: ServiceContext },
): Promise<Result<RemoteService, CommandError>> {
  const { openRemoteService } = await import('./open-remote-service.ts');
  const reporting = reportRequests(context.terminal, options);
  return openRemoteService(url, { profile, profilePath, flags: options, env: context.env, ...reporting });
}
