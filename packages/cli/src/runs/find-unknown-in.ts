import { isServiceError } from '@sluice/client';
import type { Plan } from '@sluice/core';
import { findUnknown } from '@sluice/runner';
import type { OpenedService } from '../connect/opened-service.ts';
import type { CommandError } from '../context/command-rejection.ts';
import { EXIT_CODE } from '../context/exit-code.ts';

/**
 * Why a plan is rejected that names what its service does not have. Undefined also if the service does not answer: the start
 * of the run reports that.
 */
export async function findUnknownIn(plan: Plan, opened: OpenedService): Promise<CommandError | undefined> {
  try {
    const message = await findUnknown({ plan, ...opened });
    return message === undefined ? undefined : { exitCode: EXIT_CODE.rejected, message };
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}
