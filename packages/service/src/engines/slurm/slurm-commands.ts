import { execFile } from 'node:child_process';
import { EngineError } from '../engine.ts';
import type { UnixUser } from './unix-user.ts';

/** Slurm's client programs: started as argv, never through a shell. */
export interface SlurmCommands {
  /** As the service's own user, or as `user`, which only root may. */
  run(
    program: 'sbatch' | 'squeue' | 'scancel' | 'scontrol' | 'sinfo',
    args: readonly string[],
    user?: UnixUser,
  ): Promise<string>;
}

/** What a program of Slurm said when it failed. */
export class SlurmError extends Error {
  override readonly name = 'SlurmError';
}

/** What `sbatch` hands to its jobs of the service's environment, the rest of which may be secret. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'SLURM_CONF'] as const;

/** `confPath` takes the place of the usual slurm.conf. Programs have 30 s to answer and 64 MiB for it. */
export function createSlurmCommands(confPath: string | undefined): SlurmCommands {
  const env: Record<string, string> = {};
  for (const name of PASSED) if (process.env[name] !== undefined) env[name] = process.env[name];
  if (confPath !== undefined) env.SLURM_CONF = confPath;
  return {
    run: (program, args, user) =>
      new Promise((resolve, reject) => {
        const options = { env, cwd: '/', timeout: 30_000, maxBuffer: 2 ** 26, ...(user && actingAs(user, env)) };
        execFile(program, [...args], options, (error, stdout, stderr) => {
          if (!error) resolve(stdout);
          else if ((error as NodeJS.ErrnoException).code === 'ENOENT') reject(missing(program));
          else reject(new SlurmError(`${program}: ${stderr.trim() || error.message}`));
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
