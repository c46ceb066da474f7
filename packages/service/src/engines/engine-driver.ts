import { setMaxListeners } from 'node:events';
import { mkdir } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Feature } from '@sluice/client';
import { systemErrorCode } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { Clock } from '../host/clock.ts';
import type { Observation } from './engine.ts';
import { type Engine, EngineError, type EngineSink, type HardwareModels, type Launch } from './engine.ts';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

const makeDirectory = promisify(mkdir);

export interface EngineDriverOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sink: EngineSink;
  /** Of the cluster; its path appears only in the log. */
  readonly storage: string;
}

/** A launch asked for whose end is not known. */
interface Active {
  readonly launch: Launch;
  /** Whether the engine has certainly taken it. */
  taken: boolean;
  /** Aborted once it is wanted no more. */
  readonly unwanted: AbortController;
  settled: Promise<void>;
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
  readonly #storage: string;
  readonly #active = new Map<string, Active>();
  /** Those that are to be stopped, with the shortest grace that was asked for. */
  readonly #stopping = new Map<string, number>();
  #unavailable: string | undefined = 'the engine is being opened';
  #isOpen = false;
  /** Settles once the engine is open and has recovered what an earlier process launched. */
  readonly #ready: Promise<void>;
  #markReady = () => {};
  readonly #closing = new AbortController();

  constructor(options: EngineDriverOptions) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#storage = options.storage;
    this.#sink = {
      report: (key, seen) => options.sink.report(key, withoutHostPath(seen, options.storage)),
    };
    // One for each stop that is tried again.
    setMaxListeners(0, this.#closing.signal);
    this.#ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
  }

  /** Why nothing can be launched now, or undefined. */
  get unavailable(): string | undefined {
    return this.#unavailable;
  }

  get features(): readonly Feature[] {
    return this.#engine.features;
  }

  /** As of `Engine`; nothing is known before it is open. */
  models(options: Launch['options']): HardwareModels {
    return this.#isOpen ? (this.#engine.models?.(options) ?? {}) : {};
  }

  get hidesHost(): boolean {
    return this.#engine.hidesHost === true;
  }

  /** As of `Engine`; undefined where the engine has no images. */
  async resolveImage(image: string, options: { readonly accountID: string }): Promise<string | undefined> {
    return await this.#engine.resolveImage?.(image, options);
  }

  /** Throws `EngineError` for what can be no image of this engine. */
  checkImage(image: string): void {
    this.#engine.checkImage?.(image);
  }

  /** As `Engine.findProcess`, where the engine has it. */
  get findProcess(): ((key: string) => Promise<number | undefined>) | undefined {
    const engine = this.#engine;
    return engine.findProcess && ((key) => engine.findProcess!(key));
  }

  get warnings(): readonly string[] {
    return this.#engine.warnings?.() ?? [];
  }

  /** Opens the engine and recovers what an earlier process launched. Throws what the engine throws; may be called again then. */
  async open(recovered: readonly Launch[]): Promise<void> {
    if (!this.#isOpen) for (const launch of recovered) this.#activate(launch, true);
    try {
      if (!this.#isOpen) await this.#engine.open(this.#sink);
      this.#isOpen = true;
      await this.#recover(recovered.filter(({ key }) => this.#active.has(key)));
      this.#unavailable = undefined;
      this.#markReady();
    } catch (error) {
      this.#unavailable = hidePath(error instanceof Error ? error.message : String(error), this.#storage);
      throw error;
    }
  }

  /** Opens, and tries again in the background: true once that has succeeded, false where the driver is closed before. */
  async openEventually(recovered: readonly Launch[]): Promise<boolean> {
    const { signal } = this.#closing;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      await this.#sleep(wait, signal);
      if (signal.aborted) return false;
      try {
        await this.open(recovered);
        return true;
      } catch (error) {
        this.#log.warn({ err: error }, 'could not open the engine; trying again');
      }
    }
  }

  /** Launches it, now or as soon as the engine can. */
  submit(launch: Launch): void {
    const entry = this.#activate(launch, false);
    entry.settled = this.#launchUntilAnswered(entry);
  }

  /** A stop with less grace, as of a delete after a cancel, is passed on to the engine as well. */
  stop(launch: Launch, graceMs: number): void {
    if (graceMs >= (this.#stopping.get(launch.key) ?? Number.POSITIVE_INFINITY)) return;
    this.#stopping.set(launch.key, graceMs);
    this.#active.get(launch.key)?.unwanted.abort();
    void this.#stopUntilAnswered(launch);
  }

  /** The container has ended: nothing more is tried for it. */
  ended(key: string): void {
    this.#active.get(key)?.unwanted.abort();
    this.#active.delete(key);
    this.#stopping.delete(key);
  }

  /** Frees what the engine keeps of an ended container; a failure is logged, since purge asks again. */
  async remove(key: string): Promise<void> {
    try {
      await this.#engine.remove(key);
    } catch (error) {
      this.#log.warn({ err: error, key }, 'could not remove a container from the engine');
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const { unwanted } of this.#active.values()) unwanted.abort();
    await Promise.allSettled([...this.#active.values()].map(({ settled }) => settled));
    await this.#engine.close();
  }

  #activate(launch: Launch, taken: boolean): Active {
    const known = this.#active.get(launch.key);
    if (known !== undefined) return known;
    const entry = { launch, taken, unwanted: new AbortController(), settled: Promise.resolve() };
    this.#active.set(launch.key, entry);
    return entry;
  }

  async #recover(launches: readonly Launch[]): Promise<void> {
    if (launches.length === 0) return;
    // One whose row was durable may have none yet; without it the engine could not note that it never started.
    await Promise.all(launches.map(({ directory }) => ensureDirectory(directory)));
    await this.#engine.recover(launches);
  }

  async #launchUntilAnswered(entry: Active): Promise<void> {
    const { launch, unwanted } = entry;
    const { signal } = unwanted;
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        // Not before: a directory costs up to a millisecond, which must not delay the reply to a create.
        await ensureDirectory(launch.directory);
        if (signal.aborted) return;
        await this.#engine.launch(launch, { signal });
        entry.taken = true;
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (error instanceof EngineError && error.code === 'REFUSED') {
          const end = { kind: 'refused', reason } as const;
          this.#sink.report(launch.key, { type: 'ended', endedAt: this.#clock.now(), end });
          return;
        }
        if (signal.aborted) return;
        this.#log.warn({ err: error, key: launch.key }, 'could not launch a container; trying again');
        const why = `the engine is not available, trying again: ${reason}`;
        this.#sink.report(launch.key, { type: 'pending', reason: why });
      }
      await this.#sleep(wait, signal);
    }
  }

  async #stopUntilAnswered(launch: Launch): Promise<void> {
    const { key } = launch;
    const { signal } = this.#closing;
    await this.#active.get(key)?.settled;
    await this.#ready;
    for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        // A launch whose answer was lost: the engine says what became of it before it gets the stop.
        if (this.#active.get(key)?.taken === false) await this.#recover([launch]);
        if (this.#active.has(key)) await this.#engine.stop(key, { graceMs: this.#stopping.get(key) ?? 0 });
        return;
      } catch (error) {
        this.#log.warn({ err: error, key }, 'could not stop a container; trying again');
      }
      await this.#sleep(wait, signal);
      if (!this.#active.has(key)) return;
    }
  }

  /** Ends early when `signal` is aborted. */
  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.#clock.after(ms, wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted) wake();
    });
  }
}

/** Nothing above it is made: where that is not there, the cluster's storage is away, and nothing may take its place. */
async function ensureDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path, { mode: 0o700 });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    const what = `the storage of the cluster is away, or it has lost '${dirname(path)}': mount it, or make that directory`;
    throw new Error(`could not make '${path}': ${what}`, { cause: error });
  }
}

/**
 * An observation without the path of the cluster's storage: its reason may quote the kernel or another program, and the
 * owner of a container must not learn the host's paths from it.
 */
function withoutHostPath(seen: Observation, storage: string): Observation {
  if (seen.type === 'pending') return { ...seen, reason: hidePath(seen.reason, storage) };
  if (seen.type !== 'ended' || !('reason' in seen.end)) return seen;
  return { ...seen, end: { ...seen.end, reason: hidePath(seen.end.reason, storage) } };
}

/** `text` with `(storage)` for the path. */
function hidePath(text: string, storage: string): string {
  return text.replaceAll(storage, '(storage)');
}
