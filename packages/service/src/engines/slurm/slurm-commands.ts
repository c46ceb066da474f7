import { execFile } from 'node:child_process';
import { isSystemError } from '@sluice/host-system';
import { EngineError } from '../engine.ts';
import type { UnixUser } from './unix-user.ts';

/** Runs Slurm's client programs, never through a shell. */
export interface SlurmCommands {
  run(program: SlurmProgram, args: readonly string[], options?: SlurmCallOptions): Promise<string>;
}

/** The client programs that the engine uses. */
export type SlurmProgram = 'sbatch' | 'squeue' | 'scancel' | 'sinfo' | 'scontrol' | 'sacctmgr' | 'srun';

/** How one call of a program differs from the default. */
export interface SlurmCallOptions {
  /** Run as this user, which only root may do. Default: the service's own user. */
  readonly user?: UnixUser | undefined;
  /** Additional environment variables. Unlike arguments, other users of the machine cannot read them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input. Default: empty. */
  readonly input?: string;
  /** Error output with which the call fails although the program succeeded: its answer may be incomplete. */
  readonly failsWith?: RegExp;
}

/** A program of Slurm failed; the message is its error output. */
export class SlurmError extends Error {
  override readonly name = 'SlurmError';
  /** It exited with an error code but without a message. */
  readonly isSilent: boolean;

  constructor(message: string, options: { readonly isSilent?: boolean } = {}) {
    super(message);
    this.isSilent = options.isSilent ?? false;
  }
}

/** The variables of the service's environment that `sbatch` passes to jobs; the others may be secret. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'SLURM_CONF'] as const;

/**
 * `confPath` replaces the default slurm.conf. A program may take 30 s and print 64 MiB. Rejects with `SlurmError` if it
 * fails, with `EngineError` if it is not installed.
 */
export function createSlurmCommands(confPath: string | undefined): SlurmCommands {
  const env: Record<string, string> = {};
  for (const name of PASSED) if (process.env[name] !== undefined) env[name] = process.env[name];
  if (confPath !== undefined) env.SLURM_CONF = confPath;
  return {
    run: (program, args, { user, env: added, input = '', failsWith } = {}) =>
      new Promise((resolve, reject) => {
        const all = { ...env, ...added };
        const options = { env: all, cwd: '/', timeout: 30_000, maxBuffer: 2 ** 26, ...(user && actingAs(user, all)) };
        const { stdin } = execFile(program, [...args], options, (error, stdout, stderr) => {
          const said = stderr.trim();
          if (!error && !failsWith?.test(said)) resolve(stdout);
          else if (!error) reject(new SlurmError(`${program}: ${said}`));
          else if (isSystemError(error, 'ENOENT')) reject(missing(program));
          else {
            const isSilent = said === '' && typeof error.code === 'number';
            reject(new SlurmError(`${program}: ${said || error.message}`, { isSilent }));
          }
        });
        // A program that ends without reading it says why by itself.
        stdin?.on('error', () => {});
        stdin?.end(input);
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
