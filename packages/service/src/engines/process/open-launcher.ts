import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../engine.ts';
import type { Launcher, LauncherListener } from './launcher.ts';
import { openNativeLauncher } from './native-launcher.ts';
import type { ProcessConfig } from './process-config.ts';
import { openShellLauncher } from './shell-launcher.ts';

/** Same place from `src` and from `dist`. */
const builtLauncher = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));

/** Starts the launcher that the configuration names, or the best that works here. Throws `EngineError` `UNAVAILABLE`. */
export async function openLauncher(config: ProcessConfig, listener: LauncherListener): Promise<Launcher> {
  if (process.platform !== 'linux') throw unavailable([`it needs Linux, and this is ${process.platform}`]);
  const path = config.launcherPath ?? builtLauncher;
  const maskedPaths = await resolvePaths(config.maskedPaths ?? []);
  const prefix = config.prefix ?? [];
  const reasons: string[] = [];
  if (config.launcher !== 'shell') {
    const native = await openNativeLauncher({ path, prefix, scope: 'sluice', maskedPaths }, listener).catch(
      (error: Error) => error,
    );
    if (!(native instanceof Error)) return native;
    reasons.push(native.message);
  }
  if (config.launcher !== 'native') {
    const scripts = dirname(dirname(path));
    const shell = await openShellLauncher({ scripts, prefix, maskedPaths }, listener).catch((error: Error) => error);
    if (!(shell instanceof Error)) return shell;
    reasons.push(shell.message);
  }
  throw unavailable(reasons);
}

/** Paths that are not there need no mask. */
async function resolvePaths(paths: readonly string[]): Promise<string[]> {
  const resolved = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return resolved.filter((path) => path !== undefined).sort();
}

function unavailable(reasons: readonly string[]): EngineError {
  const why = reasons.join('; ');
  const wayOut =
    'the process engine needs user namespaces: ask for them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, ' +
    'kernel.apparmor_restrict_unprivileged_userns=0), or use a cluster with the docker or slurm engine';
  return new EngineError('UNAVAILABLE', `could not start the process engine: ${why}; ${wayOut}`);
}
