import { execFile } from 'node:child_process';
import { isSystemError } from '@sluice/host-system';
import { EngineError } from '../engine.ts';
import type { UnixUser } from './unix-user.ts';

/** Slurm's client programs: started as argv, never through a shell. */
export interface SlurmCommands {
  run(program: SlurmProgram, args: readonly string[], options?: SlurmCallOptions): Promise<string>;
}

export type SlurmProgram = 'sbatch' | 'squeue' | 'scancel' | 'sinfo';

export interface SlurmCallOptions {
  /** As this user, which only root may, instead of the service's own. */
  readonly user?: UnixUser | undefined;
  /** Added to the environment, which other users of the machine cannot read, as they can arguments. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What a program of Slurm said when it failed. */
export class SlurmError extends Error {
  override readonly name = 'SlurmError';
  /** It ended by itself and gave no reason. */
  readonly isSilent: boolean;

  constructor(message: string, options: { readonly isSilent?: boolean } = {}) {
    super(message);
    this.isSilent = options.isSilent ?? false;
  }
}

/** What `sbatch` hands to its jobs of the service's environment, the rest of which may be secret. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'SLURM_CONF'] as const;

/** `confPath` takes the place of the usual slurm.conf. Programs have 30 s to answer and 64 MiB for it. */
export function createSlurmCommands(confPath: string | undefined): SlurmCommands {
  const env: Record<string, string> = {};
  for (const name of PASSED) if (process.env[name] !== undefined) env[name] = process.env[name];
  if (confPath !== undefined) env.SLURM_CONF = confPath;
  return {
    run: (program, args, { user, env: added } = {}) =>
      new Promise((resolve, reject) => {
        const all = { ...env, ...added };
        const options = { env: all, cwd: '/', timeout: 30_000, maxBuffer: 2 ** 26, ...(user && actingAs(user, all)) };
        execFile(program, [...args], options, (error, stdout, stderr) => {
          if (!error) resolve(stdout);
          else if (isSystemError(error, 'ENOENT')) reject(missing(program));
          else {
            const said = stderr.trim();
            const isSilent = said === '' && typeof error.code === 'number';
            reject(new SlurmError(`${program}: ${said || error.message}`, { isSilent }));
          }
        });
      }),
  };
}

function actingAs({ name, uid, gid, home }: UnixUser, env: Readonly<Record<string, string>>) {
  return { uid, gid, env: { ...env, HOME: home, USER: name, LOGNAME: name } };
}

function missing(program: string): EngineError {
  return new EngineError(
    'UNAVAILABLE',
    `${program} is not on this machine: install Slurm's client programs (Debian: slurm-client)`,
  );
}
