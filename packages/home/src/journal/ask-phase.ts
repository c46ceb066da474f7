import { isOnServer } from './custody.ts';
import type { Disk } from './disk.ts';
import { enteringDirectory } from './entering-directory.ts';

/**
 * Asks which process has a run that has not ended: one that executes it, perhaps a server, one that waits for its group,
 * or none.
 */
export async function askPhase(disk: Disk, directory: string): Promise<'running' | 'waiting' | 'suspended'> {
  // In this order: the process that waits claims the run before it stops waiting.
  const isEntering = (await disk.ask(enteringDirectory(directory), '')) !== undefined;
  if ((await disk.ask(directory, '')) !== undefined || (await isOnServer({ disk, directory }))) return 'running';
  return isEntering ? 'waiting' : 'suspended';
}
