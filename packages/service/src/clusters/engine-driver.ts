import { mkdir } from 'node:fs';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { type Engine, EngineError, type EngineSink, type Launch } from '../engines/engine.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

const makeDirectory = promisify(mkdir);

export interface EngineDriverOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sink: EngineSink;
}

/**
 * Carries the service's wishes to an engine that may be away: tries again until the engine has answered, and never lets
 * a stop overtake the launch that it means. What comes of it is reported through the sink, as if by the engine.
 */
export class EngineDriver {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sink: EngineSink;
  /** Launches asked for whose end is not known, with whether the engine has certainly taken them. */
  readonly #active = new Map<string, { readonly launch: Launch; taken: boolean; settled: Promise<void> }>();
  readonly #stopping = new Set<string>();
  #unavailable: string | undefined = 'the engine is being opened';
  #closed = false;

  constructor(options: EngineDriverOptions) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#sink = options.sink;
  }

  /** Why nothing can be launched now, or undefined. */
  get unavailable(): string | undefined {
    return this.#unavailable;
  }

  /** Opens the engine and takes up what an earlier process launched. Throws what the engine throws. */
  async open(recovered: readonly Launch[]): Promise<void> {
    try {
      await this.#engine.open(this.#sink);
      for (const launch of recovered) this.#activate(launch, true);
      await this.#recover(recovered);
      this.#unavailable = undefined;
    } catch (error) {
      this.#unavailable = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  /** Opens, and tries again in the background until that succeeds or the driver is closed. */
  async openEventually(recovered: readonly Launch[]): Promise<void> {
    for (let wait = FIRST_WAIT_MS; !this.#closed; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      await this.#sleep(wait);
      try {
        if (!this.#closed) await this.open(recovered);
        return;
      } catch (error) {
        this.#log.warn({ err: error }, 'the engine cannot be opened yet');
      }
    }
  }

  launch(launch: Launch): void {
    const entry = this.#activate(launch, false);
    entry.settled = this.#launchUntilAnswered(launch);
  }

  stop(launch: Launch, graceMs: number): void {
    if (this.#stopping.has(launch.key)) return;
    this.#stopping.add(launch.key);
    void this.#stopUntilAnswered(launch, graceMs);
  }

  /** The container has ended: nothing more is tried for it. */
  ended(key: string): void {
    this.#active.delete(key);
    this.#stopping.delete(key);
  }

  /** Frees what the engine keeps of an ended container; a failure is logged, since purge asks again. */
  async remove(key: string): Promise<void> {
    try {
      await this.#engine.remove(key);
    } catch (error) {
      this.#log.warn({ err: error, key }, 'the engine could not remove a container');
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled([...this.#active.values()].map(({ settled }) => settled));
    await this.#engine.close();
  }

  #activate(launch: Launch, taken: boolean): { taken: boolean; settled: Promise<void> } {
    const entry = { launch, taken, settled: Promise.resolve() };
    this.#active.set(launch.key, entry);
    return entry;
  }

  async #recover(launches: readonly Launch[]): Promise<void> {
    if (launches.length === 0) return;
    // One whose row was durable may have none yet; without it the engine could not note that it never started.
    await Promise.all(launches.map(({ directory }) => ensureDirectory(directory)));
    await this.#engine.recover(launches);
  }

  async #launchUntilAnswered(launch: Launch): Promise<void> {
    const { key } = launch;
    for (let wait = FIRST_WAIT_MS; this.#active.has(key) && !this.#stopping.has(key) && !this.#closed; ) {
      try {
        // Not before: a directory costs up to a millisecond, which nobody who waits for a create should pay.
        await ensureDirectory(launch.directory);
        await this.#engine.launch(launch);
        const entry = this.#active.get(key);
        if (entry !== undefined) entry.taken = true;
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (error instanceof EngineError && error.code === 'REFUSED') {
          this.#sink.report(key, { type: 'ended', endedAt: this.#clock.now(), end: { kind: 'refused', reason } });
          return;
        }
        this.#log.warn({ err: error, key }, 'the engine could not launch a container');
        this.#sink.report(key, { type: 'pending', reason: `the engine is not available, trying again: ${reason}` });
      }
      await this.#sleep(wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  async #stopUntilAnswered(launch: Launch, graceMs: number): Promise<void> {
    const { key } = launch;
    await this.#active.get(key)?.settled;
    for (let wait = FIRST_WAIT_MS; !this.#closed; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        // A launch whose answer was lost: the engine says what became of it before it is told to stop it.
        if (this.#active.get(key)?.taken === false) await this.#recover([launch]);
        if (this.#active.has(key)) await this.#engine.stop(key, { graceMs });
        return;
      } catch (error) {
        this.#log.warn({ err: error, key }, 'the engine could not stop a container');
      }
      await this.#sleep(wait);
      if (!this.#active.has(key)) return;
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }
}

/** Nothing above it is made: where that is not there, the cluster's storage is away, and nothing may take its place. */
async function ensureDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
