import { setMaxListeners } from 'node:events';
import { mkdir } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { backoffDelay, type Feature } from '@sluice/client';
import { systemErrorCode } from '@sluice/host-system';
import type { Logger } from 'pino';
import type { Clock } from '../protocol/clock.ts';
import { checkAnswer, type StorageAccess } from '../storage/storage-access.ts';
import { createDiskCheck, type DiskCheck } from './disk-check.ts';
import type { ImageQuery, Observation } from './engine.ts';
import { type Engine, EngineError, type EngineSink, type HardwareModels, type Launch } from './engine.ts';

const BACKOFF = { initialMs: 500, maxMs: 30_000 };

const makeDirectory = promisify(mkdir);

/** What the driver needs; `engine` is not yet open and then belongs to the driver. */
export interface EngineDriverOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Logger;
  readonly sink: EngineSink;
  /** The cluster's storage; its path is removed from reports and appears only in the log. */
  readonly storage: string;
  /** While the storage does not answer, nothing is requested that needs it. */
  readonly storageAccess: StorageAccess;
  readonly isDiskFull: () => Promise<boolean>;
}

/** A requested launch whose end is not yet known. */
interface Active {
  readonly launch: Launch;
  /** Whether the engine has confirmed the launch. */
  taken: boolean;
  /** Aborted once the container is no longer needed. */
  readonly unwanted: AbortController;
  settled: Promise<void>;
}

/**
 * Passes the service's requests to an engine that may be unavailable: repeats each until the engine responds, and sends a
 * stop only after the launch that it concerns. Results are reported through the sink, as if by the engine.
 */
export class EngineDriver {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sink: EngineSink;
  readonly #diskCheck: DiskCheck;
  readonly #storage: string;
  readonly #storageAccess: StorageAccess;
  readonly #active = new Map<string, Active>();
  /** Containers to stop, with the shortest grace period requested, in milliseconds. */
  readonly #stopping = new Map<string, number>();
  #unavailable: string | undefined = 'the engine is being opened';
  #isOpen = false;
  /** Open, and the launches of an earlier process are recovered. */
  #isReady = false;
  /** Resolves once the engine is open and has recovered the launches of an earlier process. */
  readonly #ready: Promise<void>;
  #markReady = () => {};
  readonly #closing = new AbortController();

  constructor(options: EngineDriverOptions) {
    this.#engine = options.engine;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#storage = options.storage;
    this.#storageAccess = options.storageAccess;
    this.#diskCheck = createDiskCheck((key, seen) => options.sink.report(key, seen), options.isDiskFull);
    this.#sink = {
      report: (key, seen) => this.#diskCheck.report(key, withoutHostPath(seen, options.storage)),
      answers: (failure) => this.#noteAnswer(failure),
    };
    // One listener for each stop that is being retried.
    setMaxListeners(0, this.#closing.signal);
    this.#ready = new Promise((resolve) => {
      this.#markReady = resolve;
    });
  }

  /** Why nothing can be launched now; undefined if the engine is available. */
  get unavailable(): string | undefined {
    return this.#unavailable;
  }

  get features(): readonly Feature[] {
    return this.#engine.features;
  }

  /** As in `Engine`; empty before the engine is open. */
  models(options: Launch['options']): HardwareModels {
    return this.#isOpen ? (this.#engine.models?.(options) ?? {}) : {};
  }

  get hidesHost(): boolean {
    return this.#engine.hidesHost === true;
  }

  /** As in `Engine`; undefined if the engine has no images. */
  async resolveImage(image: string, options: ImageQuery): Promise<string | undefined> {
    return await this.#engine.resolveImage?.(image, options);
  }

  /** As in `Engine`. */
  checkImage(image: string): void {
    this.#engine.checkImage?.(image);
  }

  /** As in `Engine`; undefined if the engine ignores all requests. */
  get checkJob(): Engine['checkJob'] {
    const engine = this.#engine;
    return engine.checkJob && ((job, source) => engine.checkJob!(job, source));
  }

  /** As in `Engine`; undefined if the engine does not support it. */
  get findProcess(): ((key: string) => Promise<number | undefined>) | undefined {
    const engine = this.#engine;
    return engine.findProcess && ((key) => engine.findProcess!(key));
  }

  get warnings(): readonly string[] {
    return this.#engine.warnings?.() ?? [];
  }

  /**
   * Opens the engine and recovers the launches of an earlier process. Throws the engine's error; may then be called again.
   */
  async open(recovered: readonly Launch[]): Promise<void> {
    if (!this.#isOpen) for (const launch of recovered) this.#activate(launch, true);
    try {
      await checkAnswer(this.#storageAccess);
      if (!this.#isOpen) await this.#engine.open(this.#sink);
      // An engine that answers only after `close` must not keep anything open.
      if (this.#closing.signal.aborted) return await this.#engine.close();
      this.#isOpen = true;
      await this.#recover(recovered.filter(({ key }) => this.#active.has(key)));
      this.#unavailable = undefined;
      this.#isReady = true;
      this.#markReady();
    } catch (error) {
      this.#unavailable = hidePath(error instanceof Error ? error.message : String(error), this.#storage);
      throw error;
    }
  }

  /** Opens with retries: true after success, false if the driver is closed before. */
  async openEventually(recovered: readonly Launch[]): Promise<boolean> {
    const { signal } = this.#closing;
    for (let tries = 1; ; tries++) {
      await this.#sleep(backoffDelay(BACKOFF, tries), signal);
      if (signal.aborted) return false;
      try {
        await this.open(recovered);
        return true;
      } catch (error) {
        this.#log.warn({ err: error }, 'could not open the engine; trying again');
      }
    }
  }

  /** Launches it now, or as soon as the engine is available. */
  submit(launch: Launch): void {
    const entry = this.#activate(launch, false);
    entry.settled = this.#launchUntilAnswered(entry);
  }

  /** Stops it. Another stop with a shorter grace period, such as a delete after a cancel, is passed on as well. */
  stop(launch: Launch, graceMs: number): void {
    if (graceMs >= (this.#stopping.get(launch.key) ?? Number.POSITIVE_INFINITY)) return;
    this.#stopping.set(launch.key, graceMs);
    this.#active.get(launch.key)?.unwanted.abort();
    void this.#stopUntilAnswered(launch);
  }

  /** Call this when the container has ended: ends all retries for it. */
  ended(key: string): void {
    this.#active.get(key)?.unwanted.abort();
    this.#active.delete(key);
    this.#stopping.delete(key);
  }

  /** Frees the engine's resources of an ended container; a failure is only logged, because purge repeats it. */
  async remove(key: string): Promise<void> {
    try {
      await checkAnswer(this.#storageAccess);
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
    await this.#diskCheck.idle();
  }

  /** An engine that fails before it is ready is reported by `open`. */
  #noteAnswer(failure: string | undefined): void {
    if (!this.#isReady) return;
    const before = this.#unavailable;
    this.#unavailable = failure && hidePath(failure, this.#storage);
    if (failure !== undefined && before === undefined)
      this.#log.warn({ reason: failure }, 'the engine does not answer');
    if (failure === undefined && before !== undefined) this.#log.info('the engine answers again');
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
    // A container with a durable row may have no directory yet; without it the engine could not record that it never
    // started.
    await Promise.all(launches.map(({ directory }) => this.#ensureDirectory(directory)));
    await this.#engine.recover(launches);
  }

  #ensureDirectory(path: string): Promise<void> {
    return this.#storageAccess.inThread(() => ensureDirectory(path));
  }

  async #launchUntilAnswered(entry: Active): Promise<void> {
    const { launch, unwanted } = entry;
    const { signal } = unwanted;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        await checkAnswer(this.#storageAccess);
        // Not earlier: creating a directory can take a millisecond, which must not delay the response to a create.
        await this.#ensureDirectory(launch.directory);
        if (signal.aborted) return;
        await this.#engine.launch(launch, { signal });
        entry.taken = true;
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        if (error instanceof EngineError && error.code !== 'UNAVAILABLE') {
          const end = { kind: error.code === 'REJECTED' ? 'rejected' : 'fault', reason } as const;
          this.#sink.report(launch.key, { type: 'ended', endedAt: this.#clock.now(), end });
          return;
        }
        if (signal.aborted) return;
        this.#log.warn({ err: error, key: launch.key }, 'could not launch a container; trying again');
        const why = `the engine is not available, trying again: ${reason}`;
        this.#sink.report(launch.key, { type: 'pending', reason: why });
      }
      await this.#sleep(backoffDelay(BACKOFF, tries), signal);
    }
  }

  async #stopUntilAnswered(launch: Launch): Promise<void> {
    const { key } = launch;
    const { signal } = this.#closing;
    await this.#active.get(key)?.settled;
    await this.#ready;
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        // If the response to the launch was lost, the engine first reports the state of the container.
        if (this.#active.get(key)?.taken === false) {
          await checkAnswer(this.#storageAccess);
          await this.#recover([launch]);
        }
        // Not checked for this: the engine can end a container whose storage does not answer.
        if (this.#active.has(key)) await this.#engine.stop(key, { graceMs: this.#stopping.get(key) ?? 0 });
        return;
      } catch (error) {
        this.#log.warn({ err: error, key }, 'could not stop a container; trying again');
      }
      await this.#sleep(backoffDelay(BACKOFF, tries), signal);
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

/**
 * Creates only the last directory: if its parent is missing, the cluster's storage is not mounted, and it must not be
 * replaced by a new directory.
 */
async function ensureDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path, { mode: 0o700 });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    const what = `the storage of the cluster is not mounted, or '${dirname(path)}' was removed: mount it, or create that directory`;
    throw new Error(`could not create '${path}': ${what}`, { cause: error });
  }
}

/**
 * Removes the path of the cluster's storage from an observation: its reason may quote the kernel or another program, and
 * users must not learn host paths.
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
