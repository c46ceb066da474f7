import { isServiceError, type ServiceError } from '@sluice/client';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { refuse, withAdvice } from '../context/refuse.ts';
import { onOneLine } from '../text/on-one-line.ts';
import { type HomeService, openService } from './open-service.ts';
import { serviceExitCode } from './service-exit-code.ts';

/**
 * Opens the service of a command, passes it to `act`, and closes it. Resolves to the exit code of `act`; if the service
 * cannot be opened, or `act` throws an error of the service, prints why. With `startsContainers`, prints the warnings of
 * the service first.
 */
export async function withService(
  {
    context,
    options,
    startsContainers = false,
  }: { context: CommandContext; options: GlobalOptions; startsContainers?: boolean },
  act: (opened: HomeService) => Promise<number>,
): Promise<number> {
  const opened = await openService(options, context);
  if (!opened.ok) return refuse(opened.error, { context, options });
  const warnings = startsContainers ? (opened.value.warnings ?? []) : [];
  for (const warning of warnings) context.terminal.err(`warning: ${onOneLine(warning)}\n`);
  try {
    return await act(opened.value);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const refusal = { exitCode: serviceExitCode(error), message: error.message };
    const advice = adviseOn(error, opened.value);
    return refuse(withAdvice(refusal, advice), { context, options });
  } finally {
    await opened.value.close();
  }
}

function adviseOn({ code }: ServiceError, { loginAdvice }: HomeService): string | undefined {
  if (code === 'UNAUTHENTICATED') return loginAdvice;
  // Only the embedded service has no login. Of a recorded run, the home does not know the service.
  if (code === 'PERMISSION_DENIED' && loginAdvice === undefined)
    return "this is the embedded service: name the run's service with --service or in the profile";
  return undefined;
}
