import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSystemError } from '@sluice/host-system';
import { EngineError, type Launch } from '../engine.ts';
import type { SlurmCommands } from './slurm-commands.ts';
import type { SlurmJobConfig } from './slurm-job-config.ts';
import { ALL_OF_NODE } from './slurm-nodes.ts';
import { slurmScript } from './slurm-script.ts';

const OUTPUT = 'srun.out';
/** `srun` gets only what it needs: most variables of the job would be options of the step. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'SLURM_CONF'] as const;

/** An `srun` of this process. */
export interface Srun {
  /** It may still create its step, or wait for the end of it. */
  readonly isAlive: boolean;
}

/** The files of a step, and what it needs to start. */
export interface StepStart {
  /** Its working directory. Contains what `srun` says. */
  readonly directory: string;
  readonly args: readonly string[];
  /** Of its first process. Default: none. */
  readonly input?: string;
}

/** Starts the agent of an allocation as a step of the job on one node. Throws as `startSrun`. */
export async function startAgentStep(
  { key, directory, ...launch }: Launch,
  { id, node }: { readonly id: string; readonly node: SlurmJobConfig['nodes'][number] },
): Promise<Srun> {
  const isRoot = process.geteuid?.() === 0;
  const config = { runtime: 'none', isRoot, maskedPaths: [], isAgent: true } as const;
  // What Slurm says in a step is what the step requested, which for memory may be 0.
  const capacity = `export SLURM_CPUS_ON_NODE=${node.cores} SLURM_MEM_PER_NODE=${node.memoryMB}\n`;
  const script = capacity + slurmScript({ key, directory, ...launch }, config);
  const args = [
    ...[`--jobid=${id}`, `--nodelist=${node.name}`, '--nodes=1', '--ntasks=1', `--cpus-per-task=${node.cores}`],
    ...(node.gpus === 0 ? [] : [`--gres=gpu:${node.gpus}`]),
    ...[...ALL_OF_NODE, '--input=none'],
    ...[`--job-name=${key}`, `--chdir=${directory}`],
    ...['/bin/sh', '-c', script],
  ];
  return await startSrun({ directory, args });
}

/** Starts a step that does not need this process. Throws `EngineError` if there is no `srun`. */
export async function startSrun({ directory, args, input }: StepStart): Promise<Srun> {
  const output = await open(join(directory, OUTPUT), 'a', 0o600);
  try {
    const env = Object.fromEntries(PASSED.flatMap((name) => [[name, process.env[name]]]));
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = spawn('srun', args, { cwd: '/', env, stdio: [stdin, output.fd, output.fd], detached: true });
    child.unref();
    // One that has ended before it read all says why in its output.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    const state = { isAlive: true };
    child.once('exit', () => {
      state.isAlive = false;
    });
    await once(child, 'spawn');
    return state;
  } catch (error) {
    throw new EngineError('UNAVAILABLE', describeFailure(error), { cause: error });
  } finally {
    await output.close();
  }
}

/** Prints whether there is a process whose arguments contain the text in the standard input, which is in no argument here. */
const FIND = 'if grep -qsF -f - /proc/[0-9]*/cmdline; then echo alive; else echo gone; fi';

/** Whether the node answers that no process of the step is there: none has the directory in its arguments. */
export async function isGone(
  slurm: SlurmCommands,
  { jobId, node, directory }: { readonly jobId: string; readonly node: string; readonly directory: string },
): Promise<boolean> {
  const args = [`--jobid=${jobId}`, `--nodelist=${node}`, '--nodes=1', '--ntasks=1', ...ALL_OF_NODE];
  const said = await slurm.run('srun', [...args, '/bin/sh', '-c', FIND], { input: `${directory}\n` }).catch(() => '');
  return said.trim() === 'gone';
}

/** What `srun` has said of a step that did not start; undefined if it has said nothing. */
export async function readSrunOutput({ directory }: Pick<Launch, 'directory'>): Promise<string | undefined> {
  const text = await readFile(join(directory, OUTPUT), 'utf8').catch(() => '');
  const said = text.trim().split('\n').slice(-3).join('; ').slice(-1000);
  return said === '' ? undefined : said;
}

function describeFailure(error: unknown): string {
  const why = isSystemError(error, 'ENOENT') ? 'it is not in the PATH' : (error as Error).message;
  return `could not start srun, which uses the nodes of the job: ${why}; use this node only with --engine local`;
}
