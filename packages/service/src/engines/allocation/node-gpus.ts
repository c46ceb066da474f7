import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { own } from '@sluice/client';
import { isSystemError } from '@sluice/host-system';
import { z } from 'zod';
import type { Launch } from '../engine.ts';
import { GpuLeases } from '../gpu-leases.ts';
import { GPU_VARIABLES } from '../slurm/slurm-gpu.ts';

/** File in a container's directory with the numbers of its GPUs among those of the allocation, as JSON. */
const RECORD = 'gpus.json';

const recordSchema = z.array(z.string().regex(/^\d{1,4}$/)).max(1000);

/**
 * The GPUs that an allocation has on its node, and which container has which. A container gets its own by the variables
 * in which Slurm names those of a job; nothing hides the others from it.
 */
export class NodeGpus {
  readonly count: number;
  readonly #variables: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly #ids: readonly string[];
  readonly #leases = new GpuLeases();

  /** `env` is that of a job. */
  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#variables = GPU_VARIABLES.flatMap((name) => {
      const values =
        own(env, name)
          ?.split(',')
          .filter((value) => value !== '') ?? [];
      return values.length === 0 ? [] : [{ name, values }];
    });
    this.count = this.#variables.length === 0 ? 0 : Math.min(...this.#variables.map(({ values }) => values.length));
    this.#ids = Array.from({ length: this.count }, (_, index) => String(index));
  }

  /**
   * The launch with the GPUs that it keeps until `release`, or none, in its environment. They are recorded first, for the next
   * agent.
   * It must not be called for more than there are: it would wait.
   */
  async assign(launch: Launch): Promise<Launch> {
    const { limits, directory, key, env } = launch;
    if (this.count === 0) return launch;
    const wanted = { ids: this.#ids, count: limits.gpus };
    const ids =
      limits.gpus === 0 ? [] : await this.#leases.acquire(key, wanted, { signal: undefined, onWait: () => {} });
    if (ids.length > 0) await writeFile(join(directory, RECORD), JSON.stringify(ids), { mode: 0o600 });
    const own = this.#variables.map(({ name, values }) => [name, ids.map((id) => values[Number(id)]).join(',')]);
    // The engine has no GPUs to give.
    return { ...launch, limits: { ...limits, gpus: 0 }, env: { ...env, ...Object.fromEntries(own) } };
  }

  /** What an earlier agent has given to a container. Throws if its record cannot be read. */
  async restore({ key, directory, limits }: Launch): Promise<void> {
    if (limits.gpus === 0) return;
    const text = await readFile(join(directory, RECORD), 'utf8').catch((error: unknown) => {
      if (isSystemError(error, 'ENOENT')) return '[]';
      throw error;
    });
    this.#leases.restore(key, recordSchema.parse(JSON.parse(text)));
  }

  release(key: string): void {
    this.#leases.release(key);
  }
}
