import { isServiceError, type ServiceError } from '@sluice/client';
import { fail, ok, type Result } from '@sluice/core';
import { readJobEnvironment } from '@sluice/host-system';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printWarning } from '../context/print-warning.ts';
import { reject, withAdvice } from '../context/reject.ts';
import { type HomeService, openService } from './open-service.ts';
import { serviceExitCode } from './service-exit-code.ts';

const OUTSIDE =
  'could not start containers with the engine slurm-job: this is not in a job of Slurm; put the command into a script and submit it with sbatch';

interface ServiceUse {
  readonly context: CommandContext;
  readonly options: GlobalOptions;
  /** Print the warnings of the service first. */
  readonly startsContainers?: boolean;
}

/**
 * Opens the service of a command, passes it to `act`, and closes it. Resolves to the exit code of `act`; if the service
 * cannot be opened, or `act` throws an error of the service, prints why, unless `otherwise` resolves to an exit code: it
 * receives the reason, and does without the service.
 */
export async function withService(
  { otherwise, ...use }: ServiceUse & { otherwise?: (reason: string) => Promise<number | undefined> },
  act: (opened: HomeService) => Promise<number>,
): Promise<number> {
  const done = await tryWithService(use, async (opened) => ok(await act(opened)));
  if (done.ok) return done.value;
  return (await otherwise?.(done.error.message)) ?? reject(done.error, use);
}

/** As `withService`, for `act` that prints nothing. The error also says why the service cannot be opened, or what it threw. */
export async function tryWithService<T, E extends CommandError>(
  { context, options, startsContainers = false }: ServiceUse,
  act: (opened: HomeService) => Promise<Result<T, E>>,
): Promise<Result<T, E | CommandError>> {
  const opened = await openService(options, context);
  if (!opened.ok) return opened;
  const warnings = startsContainers ? (opened.value.warnings ?? []) : [];
  for (const warning of warnings) printWarning(context.terminal, warning);
  const isOutside = opened.value.engine === 'slurm-job' && readJobEnvironment(context.env) === undefined;
  try {
    if (startsContainers && isOutside) return fail({ exitCode: EXIT_CODE.unreachable, message: OUTSIDE });
    return await act(opened.value);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    const rejection = { exitCode: serviceExitCode(error), message: error.message };
    return fail(withAdvice(rejection, adviseOn(error, opened.value)));
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
