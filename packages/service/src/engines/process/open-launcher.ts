import { fileURLToPath } from 'node:url';
import { EngineError } from '../engine.ts';
import type { Launcher, LauncherListener } from './launcher.ts';
import { openNativeLauncher } from './native-launcher.ts';
import type { ProcessConfig } from './process-config.ts';

/** Same place from `src` and from `dist`. */
const builtLauncher = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));

/** Starts the launcher that the configuration names, or the best that works here. Throws `EngineError` `UNAVAILABLE`. */
export async function openLauncher(config: ProcessConfig, listener: LauncherListener): Promise<Launcher> {
  const maskedPaths = config.maskedPaths ?? [];
  try {
    return await openNativeLauncher(
      { path: config.launcherPath ?? builtLauncher, scope: 'sluice', maskedPaths },
      listener,
    );
  } catch (cause) {
    throw new EngineError('UNAVAILABLE', `could not start the process engine: ${(cause as Error).message}`, { cause });
  }
}
