import { type ContainerService, isServiceError } from '@sluice/client';
import { isOwnContainer } from '../session/is-own-container.ts';
import { judgeTerminalPhase } from './judge-terminal-phase.ts';

/** An attempt's container: its ID and where it would be. */
export interface ContainerPlace {
  readonly runId: string;
  readonly stepName: string;
  readonly cellKey: string;
  readonly attempt: number;
  readonly clusterID: string;
  readonly accountID: string;
  readonly containerID: string;
}

/** What the service reports about a container. `missing` proves nothing: its create request may still be in flight. */
export async function askContainer(
  service: ContainerService,
  place: ContainerPlace,
): Promise<'ended' | 'there' | 'missing' | 'unknown'> {
  const { runId, stepName: step, cellKey: cell, attempt, clusterID, accountID, containerID: id } = place;
  try {
    const seen = await service.containers.get({ clusterID, accountID, id });
    if (!judgeTerminalPhase(seen)) return 'there';
    // The ended container is another one: ours does not exist.
    return isOwnContainer({ name: { runId, step, cell, attempt } }, seen) ? 'ended' : 'missing';
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return isServiceError(error, 'NOT_FOUND') ? 'missing' : 'unknown';
  }
}
