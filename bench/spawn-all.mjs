// The floor that steps are compared with in the same run: processes that do nothing, started from C (xargs).
import { spawnSync } from 'node:child_process';

/** In namespaces of its own, as a container. */
export const UNSHARED = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'];

/** Runs a command so many times, some at once. */
export function spawnAll(count, atOnce, command) {
  const input = Array.from({ length: count }, (_, i) => `${i}\n`).join('');
  const result = spawnSync('xargs', ['-P', String(atOnce), '-I_', ...command], { input });
  if (result.status !== 0) throw new Error(`could not run '${command.join(' ')}': ${result.stderr}`);
}
