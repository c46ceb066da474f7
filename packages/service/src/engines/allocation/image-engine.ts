import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Engine, EngineError, type EngineSink, type Launch, type Observation } from '../engine.ts';
import { createProcessEngine } from '../process/process-engine.ts';
import { newProcessNamespace } from '../slurm/slurm-runtimes.ts';
import { runtimeScript } from '../slurm/slurm-script.ts';
import type { AgentSettings } from './agent-settings.ts';
import { explainEnd } from './explain-end.ts';

/** File in a container's directory: it contains variables, and removes itself. */
const SCRIPT = 'runtime.sh';

/**
 * Runs containers with an image on a node of an allocation: each is the site's runtime, as in a job of its own, whose start, end
 * and records are those of a process engine.
 */
export function createImageEngine(runtime: Exclude<AgentSettings['runtime'], 'none'>): Engine {
  return new ImageEngine(runtime);
}

class ImageEngine implements Engine {
  readonly features = [];
  readonly #runtime: Exclude<AgentSettings['runtime'], 'none'>;
  readonly #isRoot = process.geteuid?.() === 0;
  readonly #processes = createProcessEngine({ mountsBy: 'command' });
  readonly #directories = new Map<string, string>();

  constructor(runtime: Exclude<AgentSettings['runtime'], 'none'>) {
    this.#runtime = runtime;
  }

  async open(sink: EngineSink): Promise<void> {
    await promisify(execFile)('sh', ['-c', `${newProcessNamespace(this.#isRoot)} true`]).catch((cause: Error) => {
      const why = `the node allows no namespace for processes: ${cause.message.trim()}`;
      throw new EngineError('UNAVAILABLE', why, { cause });
    });
    await this.#processes.open({
      report: (key, observation) => {
        if (observation.type !== 'ended') sink.report(key, observation);
        else void this.#explain(key, observation).then((explained) => sink.report(key, explained));
      },
    });
  }

  async launch(launch: Launch): Promise<void> {
    const { image: _image, ...rest } = launch;
    this.#directories.set(launch.key, launch.directory);
    const path = join(launch.directory, SCRIPT);
    const script = runtimeScript(launch, { runtime: this.#runtime, isRoot: this.#isRoot, maskedPaths: [] });
    // One that an earlier agent has left is replaced, not opened: the container may be reading it.
    await rm(path, { force: true });
    await writeFile(path, script, { flag: 'wx', mode: 0o600 });
    const env = { SLURMD_NODENAME: process.env.SLURMD_NODENAME ?? '', SLUICE_CONTAINER: launch.directory };
    await this.#processes.launch({ ...rest, mounts: [], env, command: ['sh', path] });
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    for (const { key, directory } of launches) this.#directories.set(key, directory);
    await this.#processes.recover(launches);
  }

  stop(key: string, options: { graceMs: number }): Promise<void> {
    return this.#processes.stop(key, options);
  }

  async remove(key: string): Promise<void> {
    this.#directories.delete(key);
    await this.#processes.remove(key);
  }

  close(): Promise<void> {
    return this.#processes.close();
  }

  async #explain(key: string, ended: Observation & { type: 'ended' }): Promise<Observation> {
    const directory = this.#directories.get(key);
    return directory === undefined ? ended : { ...ended, end: await explainEnd(directory, ended.end) };
  }
}
