import { type ContainerService, isServiceError } from '@sluice/client';
import { isOwnContainer } from '../identity/is-own-container.ts';
import { judgeTerminalPhase } from './judge-terminal-phase.ts';

/** An attempt's container, wherever it would be. */
export interface ContainerPlace {
  readonly runId: string;
  readonly stepName: string;
  readonly cellKey: string;
  readonly attempt: number;
  readonly clusterID: string;
  readonly accountID: string;
  readonly containerID: string;
}

/** What the service says of a container. An absent one proves nothing: its create may be on the way. */
export async function askContainer(
  service: ContainerService,
  place: ContainerPlace,
): Promise<'ended' | 'there' | 'missing' | 'unknown'> {
  const { runId, stepName: step, cellKey: cell, attempt, clusterID, accountID, containerID: id } = place;
  try {
    const seen = await service.containers.get({ clusterID, accountID, id });
    if (!judgeTerminalPhase(seen)) return 'there';
    // What ended is another container: ours is not there.
    return isOwnContainer({ name: { runId, step, cell, attempt } }, seen) ? 'ended' : 'missing';
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return isServiceError(error, 'NOT_FOUND') ? 'missing' : 'unknown';
  }
}
