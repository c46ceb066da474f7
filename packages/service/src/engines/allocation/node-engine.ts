import { FEATURES, type Feature } from '@sluice/client';
import type { Engine, EngineSink, Launch } from '../engine.ts';
import { createProcessEngine } from '../process/process-engine.ts';
import type { AgentSettings } from './agent-settings.ts';
import { createImageEngine } from './image-engine.ts';

/**
 * The engine of a node of an allocation, and what it must announce once it is open. Containers with an image run with the
 * site's runtime, those without one on the file system of the node.
 */
export function createNodeEngine({
  maskedPaths,
  runtime,
  withoutImage,
}: Pick<AgentSettings, 'maskedPaths' | 'runtime' | 'withoutImage'>): { engine: Engine; needs: readonly Feature[] } {
  if (runtime !== 'none' && withoutImage !== 'node') return { engine: createImageEngine(runtime), needs: [] };
  const processes = createProcessEngine({}, { maskedPaths });
  const engine = runtime === 'none' ? processes : new NodeEngine(processes, createImageEngine(runtime));
  return { engine, needs: [FEATURES.readOnlyMounts] };
}

class NodeEngine implements Engine {
  readonly #processes: Engine;
  readonly #images: Engine;
  readonly #withImage = new Set<string>();

  constructor(processes: Engine, images: Engine) {
    this.#processes = processes;
    this.#images = images;
  }

  get features(): readonly Feature[] {
    return this.#processes.features;
  }

  async open(sink: EngineSink): Promise<void> {
    await this.#processes.open(sink);
    await this.#images.open(sink);
  }

  async launch(launch: Launch): Promise<void> {
    if (launch.image !== undefined) this.#withImage.add(launch.key);
    await this.#of(launch.key).launch(launch);
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    const withImage = launches.filter(({ image }) => image !== undefined);
    for (const { key } of withImage) this.#withImage.add(key);
    await this.#images.recover(withImage);
    await this.#processes.recover(launches.filter(({ image }) => image === undefined));
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    await this.#of(key).stop(key, options);
  }

  async remove(key: string): Promise<void> {
    await this.#of(key).remove(key);
    this.#withImage.delete(key);
  }

  async close(): Promise<void> {
    await this.#processes.close();
    await this.#images.close();
  }

  #of(key: string): Engine {
    return this.#withImage.has(key) ? this.#images : this.#processes;
  }
}
