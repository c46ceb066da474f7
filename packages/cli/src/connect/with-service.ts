import { isServiceError, type ServiceError } from '@sluice/client';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandRefusal } from '../context/command-refusal.ts';
import { printWarning } from '../context/print-warning.ts';
import { refuse, withAdvice } from '../context/refuse.ts';
import { type HomeService, openService } from './open-service.ts';
import { serviceExitCode } from './service-exit-code.ts';

/**
 * Opens the service of a command, passes it to `act`, and closes it. Resolves to the exit code of `act`; if the service
 * cannot be opened, or `act` throws an error of the service, prints why, unless `otherwise` resolves to an exit code: it
 * receives the reason, and does without the service. With `startsContainers`, prints the warnings of the service first.
 */
export async function withService(
  {
    context,
    options,
    startsContainers = false,
    otherwise,
  }: {
    context: CommandContext;
    options: GlobalOptions;
    startsContainers?: boolean;
    otherwise?: (reason: string) => Promise<number | undefined>;
  },
  act: (opened: HomeService) => Promise<number>,
): Promise<number> {
  const opened = await openService(options, context);
  const end = async (refusal: CommandRefusal) =>
    (await otherwise?.(refusal.message)) ?? refuse(refusal, { context, options });
  if (!opened.ok) return end(opened.error);
  const warnings = startsContainers ? (opened.value.warnings ?? []) : [];
  for (const warning of warnings) printWarning(context.terminal, warning);
  try {
    return await act(opened.value);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const refusal = { exitCode: serviceExitCode(error), message: error.message };
    const advice = adviseOn(error, opened.value);
    return end(withAdvice(refusal, advice));
  } finally {
    await opened.value.close();
  }
}

function adviseOn({ code }: ServiceError, { loginAdvice }: HomeService): string | undefined {
  if (code === 'UNAUTHENTICATED') return loginAdvice;
  // Only the embedded service has no login. A run that a profile of the home sent to another service records none.
  if (code === 'PERMISSION_DENIED' && loginAdvice === undefined)
    return "this is the embedded service: name the run's service with --service or in the profile";
  return undefined;
}
