import { execFile, spawn } from 'node:child_process';
import { chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JobRequest } from '@sluice/client';
import {
  type End,
  type Engine,
  EngineError,
  type EngineSink,
  type Launch,
  type Limits,
  type Mount,
  type Observation,
} from '../../src/engines/engine.ts';
import type { CreateEngine, RigSubject } from './engine-under-test.ts';

/** What a test says of a container; the rig fills in the rest. */
export interface RigLaunch {
  readonly command: readonly string[];
  readonly key?: string;
  readonly image?: string;
  readonly accountID?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<Limits>;
  readonly logLimitBytes?: number;
  readonly job?: JobRequest;
  /** How long to wait for it, if it needs longer than others on a quiet machine. */
  readonly patienceMs?: number;
}

/** Ends what hangs: a busy machine may take ten times as long as a quiet one. */
const patienceMs = 120_000;
let keys = 0;

/** One container that a test has launched, and what the engine said of it. */
export class RigContainer implements EngineSink {
  readonly launch: Launch;
  readonly observations: Observation[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #patienceMs: number;

  constructor(launch: Launch, waitMs = patienceMs) {
    this.launch = launch;
    this.#patienceMs = waitMs;
  }

  report(_key: string, observation: Observation): void {
    this.observations.push(observation);
    for (const look of [...this.#waiting]) look();
  }

  /** The first observation of `type`, past or to come. */
  async seen<T extends Observation['type']>(type: T): Promise<Observation & { type: T }> {
    const find = () => this.observations.find((one): one is Observation & { type: T } => one.type === type);
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        const story = JSON.stringify(this.observations);
        reject(
          new Error(`could not see '${type}' of ${this.launch.key} within ${this.#patienceMs} ms; seen: ${story}`),
        );
      }, this.#patienceMs);
      const look = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  async end(): Promise<End> {
    return (await this.seen('ended')).end;
  }

  /** As after a restart: nothing is known yet. */
  forget(): void {
    this.observations.length = 0;
  }

  log(): Promise<Buffer> {
    return readFile(this.launch.logPath);
  }

  async text(): Promise<string> {
    return (await this.log()).toString('utf8');
  }
}

const OPEN_TRIES = 3;

/** A directory, an engine and its containers; `close` ends them all. */
export class EngineRig {
  readonly #create: CreateEngine;
  readonly #subject: RigSubject;
  readonly #containers = new Map<string, RigContainer>();
  #engine: Engine | undefined;
  directory = '';

  constructor(create: CreateEngine, subject: RigSubject = {}) {
    this.#create = create;
    this.#subject = subject;
  }

  get engine(): Engine {
    if (this.#engine === undefined) throw new Error('could not use the engine: it is not open');
    return this.#engine;
  }

  async open(): Promise<void> {
    this.directory = await mkdtemp(join(this.#subject.directory ?? tmpdir(), 'sluice-engine-'));
    await this.#own(this.directory);
    await this.start();
  }

  /** A fresh engine, as a restarted service makes it: opened again if what is behind it does not answer. */
  async start(): Promise<void> {
    const engine = this.#create();
    for (let tries = 1; ; tries++) {
      try {
        await engine.open({ report: (key, observation) => this.#containers.get(key)?.report(key, observation) });
        break;
      } catch (error) {
        if (tries === OPEN_TRIES || !(error instanceof EngineError && error.code === 'UNAVAILABLE')) throw error;
      }
    }
    this.#engine = engine;
  }

  /** Ends the engine; its containers run on. */
  async leave(): Promise<void> {
    const engine = this.#engine;
    this.#engine = undefined;
    await engine?.close();
  }

  /** Stops and removes the containers so far: a daemon needs longer for each list the more of them it keeps. */
  async clear(): Promise<void> {
    if (this.#engine === undefined) await this.start();
    for (const container of this.#containers.values()) {
      const isOpen = !container.observations.some((one) => one.type === 'ended' || one.type === 'absent');
      if (isOpen && container.observations.length > 0) {
        await this.engine.stop(container.launch.key, { graceMs: 0 });
        await container.end();
      }
      await this.engine.remove(container.launch.key);
      this.#containers.delete(container.launch.key);
    }
  }

  async close(): Promise<void> {
    await this.clear();
    await this.leave();
    // A job whose node has crashed may still be writing there.
    await rm(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Makes directory and request, and launches nothing. */
  async prepare(wanted: RigLaunch): Promise<RigContainer> {
    const key = wanted.key ?? `rig-${process.pid}-${Date.now().toString(36)}-${++keys}`;
    const directory = await this.makeDirectory(key);
    const image = wanted.image ?? this.#subject.image;
    const launch: Launch = {
      key,
      containerID: key,
      clusterID: 'here',
      accountID: wanted.accountID ?? 'tester',
      ...(image !== undefined && { image }),
      command: wanted.command,
      env: wanted.env ?? {},
      ports: {},
      mounts: wanted.mounts ?? [],
      limits: { cores: 1, memoryBytes: 256 * 2 ** 20, gpus: 0, ...wanted.limits },
      directory,
      logPath: join(directory, 'log'),
      ...(wanted.logLimitBytes !== undefined && { logLimitBytes: wanted.logLimitBytes }),
      options: this.#subject.options ?? {},
      ...(wanted.job !== undefined && { job: wanted.job }),
    };
    const container = new RigContainer(launch, wanted.patienceMs ?? this.#subject.patienceMs);
    this.#containers.set(key, container);
    return container;
  }

  async launch(wanted: RigLaunch): Promise<RigContainer> {
    const container = await this.prepare(wanted);
    await this.engine.launch(container.launch);
    return container;
  }

  /** Runs a shell script to its end. */
  async run(
    script: string,
    wanted: Omit<RigLaunch, 'command'> & { args?: readonly string[] } = {},
  ): Promise<RigContainer> {
    const container = await this.launch({ ...wanted, command: ['sh', '-c', script, 'sh', ...(wanted.args ?? [])] });
    await container.seen('ended');
    return container;
  }

  /** Launches what shall not start, whichever way the engine says so. */
  async rejection(container: RigContainer): Promise<End> {
    try {
      await this.engine.launch(container.launch);
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'REJECTED')) throw error;
      const end: End = { kind: 'rejected', reason: error.message };
      container.report(container.launch.key, { type: 'ended', endedAt: Date.now(), end });
      return end;
    }
    return await container.end();
  }

  async write(name: string, content: string, mode = 0o644): Promise<void> {
    const path = join(this.directory, name);
    // Whoever polls for the file finds it whole.
    await writeFile(`${path}.new`, content, { mode });
    await this.#own(`${path}.new`);
    await rename(`${path}.new`, path);
  }

  async read(name: string): Promise<string> {
    return await readFile(join(this.directory, name), 'utf8');
  }

  /** Waits until the log of a container holds `text`. */
  async untilLog(container: RigContainer, text: string): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while (!(await container.text().catch(() => '')).includes(text)) {
      if (Date.now() > deadline) throw new Error(`could not find '${text}' in the log of ${container.launch.key}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Waits until a file of `write` or of a container is there. */
  async untilFile(name: string): Promise<void> {
    const deadline = Date.now() + patienceMs;
    while ((await this.read(name).catch(() => undefined)) === undefined) {
      if (Date.now() > deadline) throw new Error(`could not find the file '${name}'`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /**
   * A FIFO that tells of life: `closed` resolves when every process that had opened it for writing is gone, since only
   * then its reader comes to the end.
   */
  async makeFifo(name: string): Promise<{ closed: Promise<void> }> {
    const path = join(this.directory, name);
    await promisify(execFile)('mkfifo', ['-m', '666', path]);
    const reader = spawn('cat', [path], { stdio: 'ignore' });
    return { closed: new Promise((resolve) => reader.once('exit', () => resolve())) };
  }

  /** A directory that containers may write to, beneath the rig's own. */
  async makeDirectory(name: string): Promise<string> {
    const path = join(this.directory, name);
    await mkdir(path, { recursive: true });
    await this.#own(path);
    return path;
  }

  async #own(path: string): Promise<void> {
    const owner = this.#subject.owner;
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  }
}
