import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exists } from '../exists.ts';
import { IDLE } from './allocation-files.ts';

/**
 * Whether all nodes of an allocation have long had nothing to do. Each agent says so of its own by a file in its directory,
 * because the service may be away. An agent that ends meanwhile only leaves its node unused.
 */
export class IdleNodes {
  readonly #own: string;
  readonly #all: readonly string[];
  #isIdle: boolean | undefined;

  /** `all`: the directories of all agents, with `own`. */
  constructor(own: string, all: readonly string[]) {
    this.#own = own;
    this.#all = all;
  }

  /** Says it of the own node; whether it is so of all. False while the storage does not answer. */
  async areAll(isIdle: boolean): Promise<boolean> {
    try {
      if (isIdle !== this.#isIdle) await this.#say(isIdle);
      if (!isIdle) return false;
      for (const directory of this.#all) if (!(await exists(join(directory, IDLE)))) return false;
      return true;
    } catch {
      return false;
    }
  }

  async #say(isIdle: boolean): Promise<void> {
    const path = join(this.#own, IDLE);
    if (isIdle) await writeFile(path, '');
    else await rm(path, { force: true });
    this.#isIdle = isIdle;
  }
}
