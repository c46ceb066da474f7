import { lstat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type StorageAccess, tryInThread } from '../../storage/storage-access.ts';
import { EngineError, type EngineSink, type Launch, type Observation } from '../engine.ts';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';
import { limitLog } from '../limit-log.ts';
import type { Launcher, LauncherEvent } from './launcher.ts';
import { createTrackedContainer, isKnownToRun, type TrackedContainer } from './process-container.ts';
import { type Boot, readRecordedOutcome } from './process-outcome.ts';
import { readClaim, readExitRecord, withdrawAbsent } from './process-records.ts';
import { resolveRequest } from './process-request.ts';

/** Extra time for a first process that misses its own deadline, before it is killed from outside. */
const killMarginMs = 2_000;
/** Interval of the checks of logs that the shell launcher writes. */
const logIntervalMs = 1_000;

/** Reports changes of the engine's containers to the sink, based on the launcher's events and on the records. */
export class ProcessWatch {
  readonly #launcher: () => Launcher | undefined;
  readonly #storage: StorageAccess;
  readonly #byKey = new Map<string, TrackedContainer>();
  readonly #byId = new Map<string, TrackedContainer>();
  #boot: Boot = { id: '', timeMs: 0 };
  #sink: EngineSink | undefined;
  #nextId = 1;
  #limitsLogs = false;
  #logTimer: NodeJS.Timeout | undefined;

  /** `launcher` returns the current one; undefined while a lost one is being replaced. */
  constructor(launcher: () => Launcher | undefined, storage: StorageAccess) {
    this.#launcher = launcher;
    this.#storage = storage;
  }

  /** Starts reporting to `sink`. */
  open({
    boot,
    sink,
    launcher,
  }: {
    readonly boot: Boot;
    readonly sink: EngineSink;
    readonly launcher: Launcher;
  }): void {
    this.#boot = boot;
    this.#sink = sink;
    // The native launcher limits logs itself.
    this.#limitsLogs = launcher.kind === 'shell';
    if (this.#limitsLogs) this.#logTimer = setInterval(() => void this.#limitLogs(), logIntervalMs).unref();
  }

  get isOpen(): boolean {
    return this.#sink !== undefined;
  }

  /** Stops reporting. */
  close(): void {
    this.#sink = undefined;
    clearInterval(this.#logTimer);
  }

  get(key: string): TrackedContainer | undefined {
    return this.#byKey.get(key);
  }

  /** All containers that have not ended. */
  unended(): TrackedContainer[] {
    return [...this.#byKey.values()].filter(({ state }) => state !== 'ended');
  }

  /** Throws `EngineError` `REJECTED` without tracking the container if this engine cannot run it. */
  launch(launch: Launch, launcher: Launcher): TrackedContainer {
    const request = resolveRequest(launch, String(this.#nextId));
    const container = this.#track(launch, 'launching');
    launcher.spawn(request);
    return container;
  }

  /** Adopts a container that this launcher did not start. */
  async recover(launch: Launch): Promise<void> {
    const known = this.#byKey.get(launch.key);
    if (known !== undefined) {
      await known.taken.promise;
      for (const observation of known.observations) this.#sink?.report(launch.key, observation);
      return;
    }
    const container = this.#track(launch, 'adopting');
    await this.#adopt(container).catch((error: Error) => {
      this.#endWithoutRecord(container, `its records could not be read: ${error.message}`);
    });
    await container.taken.promise;
  }

  remove(container: TrackedContainer): void {
    this.#byKey.delete(container.launch.key);
    this.#byId.delete(container.id);
  }

  reject(container: TrackedContainer, error: EngineError): void {
    this.remove(container);
    container.taken.reject(error);
  }

  /** Repeats the stop request after each change of the launcher, since a lost launcher may have lost it. */
  pursueStop(container: TrackedContainer): void {
    if (container.killAt === undefined || container.state !== 'live') return;
    const graceMs = Math.max(0, container.killAt - performance.now());
    this.#launcher()?.stop(container.id, graceMs);
    // The first process enforces the deadline itself, even without this service. This timer is for one that cannot, for
    // example because a debugger has stopped it.
    clearTimeout(container.killTimer);
    container.killTimer = setTimeout(() => this.#launcher()?.kill(container.id), graceMs + killMarginMs).unref();
  }

  /** A new launcher adopts what the lost one watched; `containers` are those from before it was opened. */
  async adoptAll(containers: readonly TrackedContainer[], launcher: Launcher): Promise<void> {
    for (const container of containers) {
      if (this.#launcher() !== launcher) return;
      if (container.state === 'ended') continue;
      this.#renew(container);
      if (container.state === 'launching') {
        launcher.spawn(resolveRequest(container.launch, container.id));
        continue;
      }
      container.state = 'adopting';
      await this.#adopt(container).catch((error: Error) => this.#endWithoutRecord(container, error.message));
    }
  }

  clearTimers(): void {
    for (const container of this.#byKey.values()) clearTimeout(container.killTimer);
  }

  handle(event: LauncherEvent): void {
    if (event.type === 'ready') return;
    const container = this.#byId.get(event.id);
    if (container === undefined || container.state === 'ended') return;
    switch (event.type) {
      case 'claimed':
        container.state = 'live';
        container.taken.resolve();
        this.pursueStop(container);
        return;
      case 'started':
        this.#reportRunning(container, event.startedAt);
        return;
      case 'ended':
        void this.#endWithLog(container, parseExitRecord(event.record));
        return;
      case 'rejected':
        this.reject(container, new EngineError('REJECTED', event.reason));
        return;
      case 'fault':
        this.reject(container, new EngineError('UNAVAILABLE', event.reason));
        return;
      case 'adopted':
        void this.#adopted(container);
        return;
      case 'exists':
      case 'unknown':
      case 'gone':
        void this.#settleFromRecords(container, event.type);
    }
  }

  #track(launch: Launch, state: 'launching' | 'adopting'): TrackedContainer {
    const id = String(this.#nextId++);
    const container = createTrackedContainer({ id, launch, state });
    this.#byKey.set(launch.key, container);
    this.#byId.set(id, container);
    return container;
  }

  async #adopted(container: TrackedContainer): Promise<void> {
    container.state = 'live';
    this.pursueStop(container);
    if (!isKnownToRun(container)) {
      const path = join(container.launch.directory, 'claim');
      const claim = await this.#storage.inThread(() => lstat(path)).catch(() => undefined);
      this.#reportRunning(container, claim?.mtimeMs ?? Date.now());
    }
    container.taken.resolve();
  }

  /** The launcher reports nothing more about it: the records decide. */
  async #settleFromRecords(container: TrackedContainer, cause: 'exists' | 'unknown' | 'gone'): Promise<void> {
    try {
      if (cause === 'exists') {
        container.state = 'adopting';
        this.#renew(container);
        return await this.#settleClaimed(container);
      }
      const record = await this.#storage.inThread(() => readExitRecord(container.launch.directory));
      if (record !== undefined) return await this.#endWithLog(container, record);
      if (cause === 'gone' && container.state === 'launching') {
        const claim = await this.#storage.inThread(() => readClaim(container.launch.directory));
        if (claim === undefined) {
          const reason = `could not start '${container.launch.key}': its first process died before its claim`;
          return this.reject(container, new EngineError('UNAVAILABLE', reason));
        }
      }
      // A stop after the end is answered with `unknown` too, and `gone` follows.
      if (cause === 'unknown' && container.state === 'live') return;
      this.#endWithoutRecord(container, 'its first process is gone and left no exit record');
    } catch (error) {
      this.#endWithoutRecord(container, `its records could not be read: ${(error as Error).message}`);
    }
  }

  /** A launch found a claim: of its own earlier attempt, or of this engine, which had reported the container as absent. */
  async #settleClaimed(container: TrackedContainer): Promise<void> {
    const isWithdrawn = await this.#storage.inThread(() => withdrawAbsent(container.launch.directory));
    if (!isWithdrawn) return await this.#adopt(container);
    container.state = 'launching';
    this.#launcher()?.spawn(resolveRequest(container.launch, container.id));
  }

  /** Decides from the records how to continue with a container that this launcher did not start. */
  async #adopt(container: TrackedContainer): Promise<void> {
    // Not given up if the storage does not answer: nothing else says how the container ended.
    const outcome = await this.#storage.inThread(() => readRecordedOutcome(container.launch, this.#boot));
    if (outcome.type === 'ended') await this.#endWithLog(container, outcome.record);
    else if (outcome.type === 'absent') this.#absent(container);
    else if (outcome.type === 'lost') this.#endWithoutRecord(container, outcome.reason);
    else this.#launcher()?.adopt(container.id, outcome.by, container.launch.directory);
  }

  #absent(container: TrackedContainer): void {
    container.state = 'ended';
    container.isAbsent = true;
    this.#report(container, { type: 'absent' });
    container.taken.resolve();
  }

  #endWithoutRecord(container: TrackedContainer, reason: string): void {
    const end = container.killAt !== undefined ? ({ kind: 'stopped' } as const) : ({ kind: 'fault', reason } as const);
    this.#end(container, { startedAt: undefined, endedAt: Date.now(), end });
  }

  #end(container: TrackedContainer, record: ExitRecord): void {
    if (container.state === 'ended') return;
    const { startedAt } = record;
    if (startedAt !== undefined && !isKnownToRun(container)) this.#reportRunning(container, startedAt);
    container.state = 'ended';
    clearTimeout(container.killTimer);
    this.#report(container, { type: 'ended', endedAt: record.endedAt, end: record.end });
    container.taken.resolve();
  }

  /** The launcher reports an end and then that the container is gone: both wait until the log is cut. */
  async #endWithLog(container: TrackedContainer, record: ExitRecord): Promise<void> {
    if (this.#limitsLogs) await this.#limitLog(container.launch);
    this.#end(container, record);
  }

  async #limitLogs(): Promise<void> {
    for (const { state, launch } of [...this.#byKey.values()]) {
      if (state === 'live') await this.#limitLog(launch);
    }
  }

  /** A log that cannot be cut now is checked again next time. */
  async #limitLog({ logPath, logLimitBytes }: Launch): Promise<void> {
    await tryInThread(this.#storage, () => limitLog(logPath, logLimitBytes)).catch(() => {});
  }

  #reportRunning(container: TrackedContainer, startedAt: number): void {
    const runID = `${this.#boot.id}-${container.launch.key}`;
    this.#report(container, { type: 'running', startedAt, nodeID: hostname(), runID, host: '127.0.0.1' });
  }

  #report(container: TrackedContainer, observation: Observation): void {
    container.observations.push(observation);
    this.#sink?.report(container.launch.key, observation);
  }

  /** Assigns a new ID. Events with the old ID are ignored: they concern a superseded process or a lost launcher. */
  #renew(container: TrackedContainer): void {
    this.#byId.delete(container.id);
    container.id = String(this.#nextId++);
    this.#byId.set(container.id, container);
  }
}
