import { lstat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Feature } from '@sluice/client';
import { type Engine, EngineError, type EngineSink, type Launch, type Observation } from '../engine.ts';
import { type ExitRecord, parseExitRecord } from '../exit-record.ts';
import { limitLog } from '../limit-log.ts';
import { cpuModels } from '../machine-models.ts';
import type { Launcher, LauncherEvent } from './launcher.ts';
import { openLauncher } from './open-launcher.ts';
import type { ProcessConfig } from './process-config.ts';
import { createFollowed, type Followed, isKnownToRun } from './process-container.ts';
import { type Boot, readBoot, readFate } from './process-outcome.ts';
import { readClaim, readClaimant, readExitRecord, withdrawAbsent } from './process-records.ts';
import { resolveRequest } from './process-request.ts';
import { WITHOUT_NAMESPACES, WITHOUT_TRANSLATION } from './without-namespaces.ts';

/** What a container that ignores its first process's own deadline gets on top before it is killed from outside. */
const killMarginMs = 2_000;
/** Between two looks at the logs that the shell launcher writes; the native one limits them by itself. */
const logLookMs = 1_000;

/** Containers as process trees in namespaces of this machine. Creating it does nothing; `open` does. */
export function createProcessEngine(config: ProcessConfig = {}): Engine {
  return new ProcessEngine(config);
}

class ProcessEngine implements Engine {
  readonly models = cpuModels;
  readonly #config: ProcessConfig;
  readonly #byKey = new Map<string, Followed>();
  readonly #byID = new Map<string, Followed>();
  #sink: EngineSink | undefined;
  #launcher: Launcher | undefined;
  #replacing: Promise<void> | undefined;
  #boot: Boot = { id: '', timeMs: 0 };
  #nextID = 1;
  #logLook: NodeJS.Timeout | undefined;

  constructor(config: ProcessConfig) {
    this.#config = config;
  }

  async open(sink: EngineSink): Promise<void> {
    this.#boot = readBoot();
    this.#launcher = await this.#openLauncher();
    this.#sink = sink;
    if (this.#launcher.kind === 'shell') this.#logLook = setInterval(() => void this.#limitLogs(), logLookMs).unref();
  }

  async launch(launch: Launch): Promise<void> {
    const launcher = await this.#ready();
    const known = this.#byKey.get(launch.key);
    if (known?.isAbsent === true) {
      await this.remove(launch.key);
      return await this.launch(launch);
    }
    if (known !== undefined) return await known.taken.promise;
    const request = resolveRequest(launch, String(this.#nextID));
    const followed = this.#follow(launch, 'launching');
    launcher.spawn(request);
    await followed.taken.promise;
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    await this.#ready();
    await Promise.all(
      launches.map(async (launch) => {
        const known = this.#byKey.get(launch.key);
        if (known !== undefined) {
          await known.taken.promise;
          for (const observation of known.said) this.#sink?.report(launch.key, observation);
          return;
        }
        const followed = this.#follow(launch, 'adopting');
        await this.#takeUp(followed).catch((error: Error) => {
          this.#endWithoutRecord(followed, `its records could not be read: ${error.message}`);
        });
        await followed.taken.promise;
      }),
    );
  }

  async stop(key: string, options: { graceMs: number }): Promise<void> {
    const followed = this.#byKey.get(key);
    if (followed === undefined || followed.state === 'ended') return;
    // The earliest deadline counts: a delete does not wait for the grace of a cancel.
    followed.killAt = Math.min(performance.now() + options.graceMs, followed.killAt ?? Number.POSITIVE_INFINITY);
    await this.#ready();
    this.#pursueStop(followed);
  }

  /** Asks again after each change of the launcher: what was asked of a lost one may have been lost with it. */
  #pursueStop(followed: Followed): void {
    if (followed.killAt === undefined || followed.state !== 'live') return;
    const graceMs = Math.max(0, followed.killAt - performance.now());
    this.#launcher?.stop(followed.id, graceMs);
    // The first process keeps the deadline itself, also when we are gone; this is for one that cannot (stopped by a debugger).
    clearTimeout(followed.killTimer);
    followed.killTimer = setTimeout(() => this.#launcher?.kill(followed.id), graceMs + killMarginMs).unref();
  }

  async remove(key: string): Promise<void> {
    const followed = this.#byKey.get(key);
    if (followed?.state !== 'ended') return;
    this.#byKey.delete(key);
    this.#byID.delete(followed.id);
  }

  async findProcess(key: string): Promise<number | undefined> {
    const followed = this.#byKey.get(key);
    return followed && (await readClaimant(followed.launch.directory, this.#boot.id));
  }

  /** Translated paths keep nobody from the files. */
  get features(): readonly Feature[] {
    return this.#launcher?.mountsBy === 'namespaces' ? ['read-only-mounts'] : [];
  }

  warnings(): readonly string[] {
    const mountsBy = this.#launcher?.mountsBy ?? 'namespaces';
    return mountsBy === 'namespaces' ? [] : [mountsBy === 'translation' ? WITHOUT_NAMESPACES : WITHOUT_TRANSLATION];
  }

  async close(): Promise<void> {
    this.#sink = undefined;
    clearInterval(this.#logLook);
    // One that is just being started in the place of a lost one would outlive us.
    await this.#replacing?.catch(() => {});
    const launcher = this.#launcher;
    this.#launcher = undefined;
    for (const followed of this.#byKey.values()) clearTimeout(followed.killTimer);
    await launcher?.close();
  }

  async #ready(): Promise<Launcher> {
    if (this.#sink !== undefined && this.#launcher === undefined) await this.#replaceLauncher();
    if (this.#launcher === undefined)
      throw new EngineError('UNAVAILABLE', 'could not use the process engine: it is not open');
    return this.#launcher;
  }

  #openLauncher(): Promise<Launcher> {
    return openLauncher(this.#config, {
      event: (event) => this.#handle(event),
      lost: () => this.#handleLoss(),
    });
  }

  #follow(launch: Launch, state: 'launching' | 'adopting'): Followed {
    const id = String(this.#nextID++);
    const followed = createFollowed({ id, launch, state });
    this.#byKey.set(launch.key, followed);
    this.#byID.set(id, followed);
    return followed;
  }

  #handle(event: LauncherEvent): void {
    if (event.type === 'ready') return;
    const followed = this.#byID.get(event.id);
    if (followed === undefined || followed.state === 'ended') return;
    switch (event.type) {
      case 'claimed':
        followed.state = 'live';
        followed.taken.resolve();
        this.#pursueStop(followed);
        return;
      case 'started':
        this.#reportRunning(followed, event.startedAt);
        return;
      case 'ended':
        void this.#endWithLog(followed, parseExitRecord(event.record));
        return;
      case 'refused':
        this.#reject(followed, new EngineError('REFUSED', event.reason));
        return;
      case 'fault':
        this.#reject(followed, new EngineError('UNAVAILABLE', event.reason));
        return;
      case 'adopted':
        void this.#adopted(followed);
        return;
      case 'exists':
      case 'unknown':
      case 'gone':
        void this.#settleFromRecords(followed, event.type);
    }
  }

  #reject(followed: Followed, error: EngineError): void {
    this.#byKey.delete(followed.launch.key);
    this.#byID.delete(followed.id);
    followed.taken.reject(error);
  }

  async #adopted(followed: Followed): Promise<void> {
    followed.state = 'live';
    this.#pursueStop(followed);
    if (!isKnownToRun(followed)) {
      const claim = await lstat(join(followed.launch.directory, 'claim')).catch(() => undefined);
      this.#reportRunning(followed, claim?.mtimeMs ?? Date.now());
    }
    followed.taken.resolve();
  }

  /** The launcher has nothing more to tell of it: what is written decides. */
  async #settleFromRecords(followed: Followed, cause: 'exists' | 'unknown' | 'gone'): Promise<void> {
    try {
      if (cause === 'exists') {
        followed.state = 'adopting';
        this.#renew(followed);
        return await this.#settleClaimed(followed);
      }
      const record = await readExitRecord(followed.launch.directory);
      if (record !== undefined) return this.#end(followed, record);
      if (cause === 'gone' && followed.state === 'launching') {
        const claim = await readClaim(followed.launch.directory);
        if (claim === undefined) {
          return this.#reject(
            followed,
            new EngineError(
              'UNAVAILABLE',
              `could not start '${followed.launch.key}': its first process died before its claim`,
            ),
          );
        }
      }
      // A stop that came after the end finds nothing either, and `gone` is on its way.
      if (cause === 'unknown' && followed.state === 'live') return;
      this.#endWithoutRecord(followed, 'its first process is gone and left no exit record');
    } catch (error) {
      this.#endWithoutRecord(followed, `its records could not be read: ${(error as Error).message}`);
    }
  }

  /** A launch found a claim: of its own earlier try, or of this engine, which had said that it never started. */
  async #settleClaimed(followed: Followed): Promise<void> {
    if (!(await withdrawAbsent(followed.launch.directory))) return await this.#takeUp(followed);
    followed.state = 'launching';
    this.#launcher?.spawn(resolveRequest(followed.launch, followed.id));
  }

  /** Decides from the records what became of a container that this launcher did not start. */
  async #takeUp(followed: Followed): Promise<void> {
    const fate = await readFate(followed.launch, this.#boot);
    if (fate.type === 'ended') this.#end(followed, fate.record);
    else if (fate.type === 'absent') this.#absent(followed);
    else if (fate.type === 'lost') this.#endWithoutRecord(followed, fate.reason);
    else this.#launcher?.adopt(followed.id, fate.by, followed.launch.directory);
  }

  #absent(followed: Followed): void {
    followed.state = 'ended';
    followed.isAbsent = true;
    this.#report(followed, { type: 'absent' });
    followed.taken.resolve();
  }

  #endWithoutRecord(followed: Followed, reason: string): void {
    const end = followed.killAt !== undefined ? ({ kind: 'stopped' } as const) : ({ kind: 'fault', reason } as const);
    this.#end(followed, { startedAt: undefined, endedAt: Date.now(), end });
  }

  #end(followed: Followed, record: ExitRecord): void {
    if (followed.state === 'ended') return;
    const { startedAt } = record;
    if (startedAt !== undefined && !isKnownToRun(followed)) this.#reportRunning(followed, startedAt);
    followed.state = 'ended';
    clearTimeout(followed.killTimer);
    this.#report(followed, { type: 'ended', endedAt: record.endedAt, end: record.end });
    followed.taken.resolve();
  }

  async #endWithLog(followed: Followed, record: ExitRecord): Promise<void> {
    const { logPath, logLimitBytes } = followed.launch;
    if (this.#logLook !== undefined) await limitLog(logPath, logLimitBytes).catch(() => {});
    this.#end(followed, record);
  }

  async #limitLogs(): Promise<void> {
    for (const { state, launch } of [...this.#byKey.values()]) {
      // A log that cannot be cut now is looked at again.
      if (state === 'live') await limitLog(launch.logPath, launch.logLimitBytes).catch(() => {});
    }
  }

  #reportRunning(followed: Followed, startedAt: number): void {
    const runID = `${this.#boot.id}-${followed.launch.key}`;
    this.#report(followed, { type: 'running', startedAt, nodeID: hostname(), runID, host: '127.0.0.1' });
  }

  #report(followed: Followed, observation: Observation): void {
    followed.said.push(observation);
    this.#sink?.report(followed.launch.key, observation);
  }

  /** Tried once at once, and again when something is wanted: a launcher that cannot live must not be started in a loop. */
  #handleLoss(): void {
    this.#launcher = undefined;
    for (const followed of this.#byKey.values()) if (followed.state === 'live') followed.state = 'adopting';
    if (this.#sink !== undefined) this.#replaceLauncher().catch(() => {});
  }

  #replaceLauncher(): Promise<void> {
    this.#replacing ??= this.#openAndTakeUp().finally(() => {
      this.#replacing = undefined;
    });
    return this.#replacing;
  }

  /** Containers do not need the launcher to live: a new one takes up what the lost one watched. */
  async #openAndTakeUp(): Promise<void> {
    // Another loss while containers are taken up is found here.
    while (this.#launcher === undefined) {
      const open = [...this.#byKey.values()].filter((followed) => followed.state !== 'ended');
      try {
        this.#launcher = await this.#openLauncher();
      } catch (error) {
        for (const followed of open) if (followed.state === 'launching') this.#reject(followed, error as EngineError);
        throw error;
      }
      // Closed meanwhile: what runs goes on, and nothing is started any more.
      if (this.#sink === undefined) return;
      await this.#takeUpAll(open, this.#launcher);
    }
  }

  async #takeUpAll(open: readonly Followed[], launcher: Launcher): Promise<void> {
    for (const followed of open) {
      if (this.#launcher !== launcher) return;
      if (followed.state === 'ended') continue;
      this.#renew(followed);
      if (followed.state === 'launching') {
        launcher.spawn(resolveRequest(followed.launch, followed.id));
        continue;
      }
      followed.state = 'adopting';
      await this.#takeUp(followed).catch((error: Error) => this.#endWithoutRecord(followed, error.message));
    }
  }

  /** What is still to come under the old id is of no account: about a process that gave way, or from a lost launcher. */
  #renew(followed: Followed): void {
    this.#byID.delete(followed.id);
    followed.id = String(this.#nextID++);
    this.#byID.set(followed.id, followed);
  }
}
