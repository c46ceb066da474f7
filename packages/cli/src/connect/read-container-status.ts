import { isServiceError } from '@sluice/client';
import type { StepExplanation } from '@sluice/runner';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { openService } from './open-service.ts';

/** What the service itself says of a container that has not ended. */
export interface ContainerStatus {
  readonly phase: string;
  readonly state: string;
  /** Why it says nothing. */
  readonly problem?: string;
}

const LIVE: ReadonlySet<string> = new Set(['submitting', 'pending', 'running']);

/** Asks the service about the container that a step has now; undefined where there is none, or there is no way to ask. */
export async function readContainerStatus(
  { state, attempts }: StepExplanation,
  { context, options }: { context: CommandContext; options: GlobalOptions },
): Promise<ContainerStatus | undefined> {
  const attempt = attempts.at(-1);
  if (!LIVE.has(state) || attempt?.containerID === undefined || attempt.clusterID === undefined) return undefined;
  const opened = await openService(options, context);
  if (!opened.ok) return undefined;
  const { service, scope, close } = opened.value;
  try {
    const place = { clusterID: attempt.clusterID, accountID: scope.accountID, id: attempt.containerID };
    const container = await service.containers.get(place);
    return { phase: container.phase ?? '', state: container.state ?? '' };
  } catch (error) {
    if (isServiceError(error)) return { phase: '', state: '', problem: error.message };
    throw error;
  } finally {
    await close();
  }
}
