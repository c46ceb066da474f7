import { existsSync } from 'node:fs';
import type { Feature } from '@sluice/client';
import {
  type End,
  type Engine,
  EngineError,
  type EngineSink,
  type ImageQuery,
  type Launch,
  type Observation,
} from '../../src/engines/engine.ts';

/** An engine whose containers the test controls. It outlives the services that open it. */
export class FakeEngine implements Engine {
  features: readonly Feature[] = [];
  /** The digest of each image. */
  readonly digests = new Map<string, string>();
  /** Every requested launch, in order, including failed attempts. */
  readonly asked: Launch[] = [];
  readonly launched = new Map<string, Launch>();
  readonly stopped: { key: string; graceMs: number }[] = [];
  readonly removed: string[] = [];
  /** Errors that the next calls of `launch` throw, in order. */
  readonly launchErrors: Error[] = [];
  /** The error that `open` throws while set. */
  openError: Error | undefined;
  /** While set, `open` waits for it, as for a socket that does not answer. */
  silence: Promise<void> | undefined;
  /** Errors that the next calls of `recover` throw, in order. */
  readonly recoverErrors: Error[] = [];
  /** The number of calls of `open`. */
  opened = 0;
  /** While set, a launch lasts until it is aborted. */
  isSlow = false;
  /** The error of `checkImage` for every image, while set. */
  imageFault: string | undefined;
  /** Whether a stop ends the container immediately. */
  obeysStop = true;
  #sink: EngineSink | undefined;

  async open(sink: EngineSink): Promise<void> {
    await this.silence;
    if (this.openError !== undefined) throw this.openError;
    this.opened++;
    this.#sink = sink;
  }

  /** Tells the service whether the system behind the engine answers. */
  answers(failure: string | undefined): void {
    this.#sink?.answers?.(failure);
  }

  async launch(launch: Launch, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
    this.asked.push(launch);
    const error = this.launchErrors.shift();
    if (error !== undefined) throw error;
    if (this.isSlow) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      throw new EngineError('UNAVAILABLE', 'given up');
    }
    this.launched.set(launch.key, launch);
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    const error = this.recoverErrors.shift();
    if (error !== undefined) throw error;
    for (const launch of launches) {
      // Required by the interface; a real engine records there that it never started.
      if (!existsSync(launch.directory)) throw new Error(`could not find the directory ${launch.directory}`);
      if (!this.launched.has(launch.key)) this.#sink?.report(launch.key, { type: 'absent' });
    }
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    this.stopped.push({ key, graceMs: options.graceMs });
    if (this.obeysStop) this.#report(key, { type: 'ended', endedAt: Date.now(), end: { kind: 'stopped' } });
  }

  checkImage(): void {
    if (this.imageFault !== undefined) throw new EngineError('REJECTED', this.imageFault);
  }

  async resolveImage(image: string, _query?: ImageQuery): Promise<string | undefined> {
    return this.digests.get(image);
  }

  async remove(key: string): Promise<void> {
    this.removed.push(key);
  }

  async close(): Promise<void> {
    this.#sink = undefined;
  }

  /** The launch of the container `id`; the latest if the ID was reused. */
  launchOf(id: string): Launch {
    const launch = [...this.launched.values()].findLast(({ containerID }) => containerID === id);
    if (launch === undefined) throw new Error(`the container ${id} was not launched`);
    return launch;
  }

  observe(id: string, observation: Observation): void {
    this.#report(this.launchOf(id).key, observation);
  }

  run(id: string, startedAt = Date.now()): void {
    this.observe(id, { type: 'running', startedAt, nodeID: 'node-1', runID: `run-${id}`, host: '127.0.0.1' });
  }

  end(id: string, end: End = { kind: 'exited', exitCode: 0 }, endedAt = Date.now()): void {
    this.observe(id, { type: 'ended', endedAt, end });
  }

  #report(key: string, observation: Observation): void {
    this.#sink?.report(key, observation);
  }
}
