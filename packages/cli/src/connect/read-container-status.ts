import { isServiceError } from '@sluice/client';
import type { StepExplanation } from '@sluice/run';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { openService } from './open-service.ts';

/** The status of an unfinished container, as the service reports it. */
export interface ContainerStatus {
  readonly phase: string;
  /** Its `state` in the protocol, a text for people. */
  readonly message: string;
  /** Why the status could not be read; the other fields are then empty. */
  readonly problem?: string;
}

const LIVE: ReadonlySet<string> = new Set(['submitting', 'pending', 'running']);

/** Requests the status of a step's current container; undefined if it has none or the service could not be opened. */
export async function readContainerStatus(
  { status, attempts }: StepExplanation,
  { context, options }: { context: CommandContext; options: GlobalOptions },
): Promise<ContainerStatus | undefined> {
  const attempt = attempts.at(-1);
  if (!LIVE.has(status) || attempt?.containerId === undefined || attempt.clusterId === undefined) return undefined;
  const opened = await openService(options, context);
  if (!opened.ok) return undefined;
  const { service, scope, close } = opened.value;
  try {
    const place = { clusterID: attempt.clusterId, accountID: scope.accountID, id: attempt.containerId };
    const container = await service.containers.get(place);
    return { phase: container.phase ?? '', message: container.state ?? '' };
  } catch (error) {
    if (isServiceError(error)) return { phase: '', message: '', problem: error.message };
    throw error;
  } finally {
    await close();
  }
}
