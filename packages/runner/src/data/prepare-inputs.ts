import type { VolumeFiles } from '@sluice/client';
import type { RunSession } from '../run/run-session.ts';

/** Makes ready what a step's containers mount, once for each; undefined where nothing is to be done. */
export function createInputPreparation(
  session: RunSession,
  workspace: () => VolumeFiles,
): (step: number) => Promise<void> | undefined {
  void session;
  void workspace;
  return () => undefined;
}
