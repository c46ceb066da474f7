import { dirname } from 'node:path';
import { LOCAL_STORAGE, type StorageAccess } from '../../storage/storage-access.ts';
import { EngineError } from '../engine.ts';
import { findNativeProgram, NATIVE_DIRECTORY } from '../native-program.ts';
import type { Launcher, LauncherListener } from './launcher.ts';
import { openNativeLauncher } from './native-launcher.ts';
import type { ProcessConfig } from './process-config.ts';
import { openShellLauncher } from './shell-launcher.ts';

/** The configuration of the engine, with the paths to hide. */
export interface LauncherOptions extends ProcessConfig {
  /** All names of the host paths that appear empty in containers, in particular of the service's own data root. */
  readonly maskedPaths?: readonly string[];
  /** Of the containers' directories. */
  readonly storage?: StorageAccess;
}

/** Starts the configured launcher, or the best one that works here. Throws `EngineError` `UNAVAILABLE`. */
export async function openLauncher(config: LauncherOptions, listener: LauncherListener): Promise<Launcher> {
  if (process.platform !== 'linux') throw unavailable([`it needs Linux, and this is ${process.platform}`]);
  const path = config.launcherPath ?? findNativeProgram('launcher');
  const scripts = config.launcherPath === undefined ? NATIVE_DIRECTORY : dirname(dirname(config.launcherPath));
  const { prefix = [], maskedPaths = [], storage = LOCAL_STORAGE } = config;
  const native = (mountsBy: 'namespaces' | 'translation') =>
    openNativeLauncher({ path, prefix, mountsBy, scope: 'sluice', maskedPaths }, listener);
  const shell = (mountsBy: 'namespaces' | 'rewriting' | 'command') =>
    openShellLauncher({ scripts, prefix, mountsBy, maskedPaths, storage }, listener);
  if (config.mountsBy === 'command') return await shell('command');
  const ways = [
    { kind: 'native', mountsBy: 'namespaces', open: () => native('namespaces') },
    { kind: 'shell', mountsBy: 'namespaces', open: () => shell('namespaces') },
    { kind: 'native', mountsBy: 'translation', open: () => native('translation') },
    { kind: 'shell', mountsBy: 'rewriting', open: () => shell('rewriting') },
  ] as const;
  const reasons: string[] = [];
  for (const { kind, mountsBy, open } of ways) {
    if (kind !== (config.launcher ?? kind) || mountsBy !== (config.mountsBy ?? mountsBy)) continue;
    const launcher = await open().catch((error: Error) => error);
    if (!(launcher instanceof Error)) return launcher;
    reasons.push(launcher.message);
  }
  throw unavailable(reasons);
}

function unavailable(reasons: readonly string[]): EngineError {
  const why = reasons.join('; ');
  const wayOut =
    'the process engine needs user namespaces: ask for them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, ' +
    'kernel.apparmor_restrict_unprivileged_userns=0), or use a cluster with the docker or slurm engine';
  return new EngineError('UNAVAILABLE', `could not start the process engine: ${why}; ${wayOut}`);
}
