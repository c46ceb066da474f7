import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FEATURES, type Feature } from '@sluice/client';
import { parseDuration } from '@sluice/core';
import { LOCAL_STORAGE, type StorageAccess } from '../../storage/storage-access.ts';
import { REPORTS } from '../allocation/allocation-files.ts';
import { USABLE_PART } from '../allocation/suits-allocation.ts';
import { TickLoop } from '../allocation/tick-loop.ts';
import { type End, EngineError, type EngineSink, type Launch } from '../engine.ts';
import { forEachLimit } from '../for-each-limit.ts';
import { tasksOf } from '../tasks-of.ts';
import { checkRuntime, type RuntimeRules } from './check-runtime.ts';
import { createSlurmCommands, type SlurmCommands } from './slurm-commands.ts';
import type { SlurmConfig } from './slurm-config.ts';
import { createSlurmEngine, type SlurmEngineOptions, type SlurmJobs } from './slurm-engine.ts';
import type { SlurmJobConfig } from './slurm-job-config.ts';
import { createNodeAddresses, findNodes, type NodeAddresses, type NodePlace } from './slurm-nodes.ts';
import { type ExitRecord, openSlurmRecords, type SlurmRecords } from './slurm-records.ts';
import { hasJobEnded, listSteps, type SlurmStep } from './slurm-step-list.ts';
import { isGone, readSrunOutput, type Srun, startAgentStep } from './step-container.ts';
import { TaskSteps } from './task-steps.ts';

/** The node of a step that Slurm does not list is asked about its agent if that reports nothing for so long. */
const SILENT_MS = 60_000;
/** How often it is asked. */
const ASK_MS = 10_000;
/** What the job must have left for a further allocation. */
const LEAST_MS = 20_000;

/** An allocation, and what is known of its step. */
interface Step {
  readonly launch: Launch;
  readonly records: SlurmRecords;
  readonly jobId: string;
  /** Undefined of a step of an earlier process. */
  srun: Srun | undefined;
  /** Undefined of a step of an earlier process that was not seen yet. */
  node: string | undefined;
  isStopped: boolean;
  isRunning: boolean;
  /** When it was first missing without an exit record, by a monotonic clock. */
  missedAt: number | undefined;
  /** When its node was last asked about it, by a monotonic clock. */
  askedAt: number;
}

/**
 * Runs the agents of allocations as steps of the job in which the service runs. Their start and exit are in the same records
 * as those of a job. What Slurm lists as a step is alive, whichever process has started it. Containers with several tasks are
 * steps of their own (`TaskSteps`); what else suits no allocation is rejected.
 */
export function createSlurmStepEngine(
  job: SlurmJobConfig,
  { config, ...options }: SlurmEngineOptions & { readonly config: SlurmConfig },
): SlurmJobs {
  return new SlurmStepEngine(job, config, options);
}

class SlurmStepEngine implements SlurmJobs {
  readonly #job: SlurmJobConfig;
  readonly #rules: RuntimeRules;
  readonly #storage: StorageAccess;
  readonly #slurm: SlurmCommands;
  readonly #addressOf: NodeAddresses;
  /** Never opened: tells what Slurm's settings say. */
  readonly #settings: SlurmJobs;
  readonly #graceMs: number;
  readonly #steps = new Map<string, Step>();
  readonly #tasks: TaskSteps;
  readonly #loop: TickLoop;
  #sink: EngineSink | undefined;

  constructor(job: SlurmJobConfig, config: SlurmConfig, options: SlurmEngineOptions) {
    this.#job = job;
    this.#rules = config;
    this.#storage = options.storageAccess ?? LOCAL_STORAGE;
    this.#slurm = createSlurmCommands(config.confPath);
    this.#addressOf = createNodeAddresses(this.#slurm);
    this.#settings = createSlurmEngine(config, options);
    this.#graceMs = parseDuration(config.recordGrace);
    this.#tasks = new TaskSteps({
      ...{ job, slurm: this.#slurm, storage: this.#storage, addressOf: this.#addressOf, recordGraceMs: this.#graceMs },
      findMaskedPaths: () => this.findMaskedPaths(),
      report: (key, observation) => this.#sink?.report(key, observation),
      agentNodes: () => new Set([...this.#steps.values()].flatMap(({ node }) => node ?? [])),
    });
    const pauseMs = parseDuration(config.pollInterval);
    this.#loop = new TickLoop(async () => {
      await this.#tick();
      return pauseMs;
    });
  }

  get features(): readonly Feature[] {
    // Of Slurm's options, `mpi` is the one that a step of a job can have.
    const wanted: readonly Feature[] = [
      ...[FEATURES.readOnlyMounts, FEATURES.unlimitedMemory],
      ...[FEATURES.multiNode, FEATURES.slurmOptions],
    ];
    return this.#settings.features.filter((feature) => wanted.includes(feature));
  }

  async open(sink: EngineSink): Promise<void> {
    this.#sink = sink;
    await this.findMaskedPaths().catch(() => undefined);
    this.#loop.soon(0);
  }

  async launch(launch: Launch): Promise<void> {
    this.#checkRuntime(launch);
    if (tasksOf(launch).count === 1) throw new EngineError('REJECTED', this.#describeUnsuited(launch));
    await this.#tasks.launch(launch);
    this.#loop.soon(0);
  }

  get mostAllocations(): number {
    return this.#tasks.mostAgents;
  }

  async findNodes(nodeID: string): Promise<readonly (NodePlace | undefined)[]> {
    return await findNodes(nodeID, { slurm: this.#slurm, addressOf: this.#addressOf });
  }

  async hasJob(): Promise<boolean> {
    return false;
  }

  async giveToUser(): Promise<void> {}

  findMaskedPaths(): Promise<string[]> {
    return this.#settings.findMaskedPaths();
  }

  async launchAgent(launch: Launch): Promise<void> {
    if (this.#steps.has(launch.key)) return;
    const { id, endsAt = Number.POSITIVE_INFINITY } = this.#job;
    const leftMs = endsAt - Date.now();
    if (leftMs < LEAST_MS) throw unavailable(`job ${id} ends in ${Math.max(0, Math.round(leftMs / 1000))} s`);
    if (this.#steps.size >= this.mostAllocations) throw unavailable('a step on several nodes gets them');
    const used = new Set([...[...this.#steps.values()].map((step) => step.node), ...this.#tasks.nodes]);
    const node = this.#job.nodes.find(({ name }) => !used.has(name));
    if (node === undefined) throw unavailable(`all nodes of job ${id} are used`);
    const records = openSlurmRecords(launch.directory, this.#storage);
    // Reserves the node while the step is started.
    const step = this.#add({ launch, records, jobId: id, node: node.name, srun: { isAlive: true }, isStopped: false });
    try {
      await records.writeJobId(id);
      step.srun = await startAgentStep(launch, { id, node });
    } catch (error) {
      this.#steps.delete(launch.key);
      throw error;
    }
  }

  async recover(launches: readonly Launch[]): Promise<void> {
    await forEachLimit(launches, async (launch) => {
      if (tasksOf(launch).count > 1) return await this.#tasks.recover(launch);
      const records = openSlurmRecords(launch.directory, this.#storage);
      const jobId = await records.readJobId();
      if (jobId === undefined) this.#sink?.report(launch.key, { type: 'absent' });
      else {
        const isStopped = await records.isStopped();
        this.#add({ launch, records, jobId, isStopped, srun: undefined, node: undefined });
      }
    });
    // Before a further allocation is started, so that the nodes of these are known.
    await this.#tick();
  }

  /** Without a grace period: what its containers do is the agent's. */
  async stop(key: string, options: { graceMs: number }): Promise<void> {
    if (this.#tasks.has(key)) {
      await this.#tasks.stop(key, options);
      this.#loop.soon(0);
      return;
    }
    const step = this.#steps.get(key);
    if (step === undefined) return;
    step.isStopped = true;
    await step.records.writeStop().catch(() => undefined);
  }

  async remove(key: string): Promise<void> {
    this.#tasks.remove(key);
    this.#steps.delete(key);
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  #add(from: Omit<Step, 'isRunning' | 'missedAt' | 'askedAt'>): Step {
    const step: Step = { ...from, isRunning: false, missedAt: undefined, askedAt: Number.NEGATIVE_INFINITY };
    this.#steps.set(step.launch.key, step);
    return step;
  }

  async #tick(): Promise<void> {
    // Of an `srun` that ends while Slurm is asked, the answer may be older than the step.
    const before = [...this.#steps.values()].map((step) => ({ step, mayStart: step.srun?.isAlive === true }));
    const tasks = this.#tasks.begin();
    if (before.length === 0 && tasks.length === 0) return await this.#tasks.startNext();
    const listed = await listSteps(this.#slurm).catch((error: Error) => {
      this.#sink?.answers?.(`Slurm does not answer: ${error.message}`);
    });
    if (listed === undefined) return;
    this.#sink?.answers?.(undefined);
    await forEachLimit(before, async ({ step, mayStart }) => {
      // A storage that does not answer now is asked again.
      await this.#settle(step, { seen: listed.get(step.launch.key), mayStart }).catch(() => undefined);
    });
    await this.#tasks.settle(tasks, listed);
    await this.#tasks.startNext();
  }

  async #settle(step: Step, { seen, mayStart }: { seen: SlurmStep | undefined; mayStart: boolean }): Promise<void> {
    if (seen !== undefined) {
      step.node = seen.node;
      step.missedAt = undefined;
      if (step.isStopped) await this.#slurm.run('scancel', [seen.id]).catch(() => undefined);
      if (!step.isRunning) await this.#reportRunning(step, seen);
    } else if (!mayStart) await this.#end(step);
  }

  async #reportRunning(step: Step, { id, node }: SlurmStep): Promise<void> {
    const started = await step.records.readStart();
    if (started === undefined) return;
    const host = (await this.#addressOf(node)) ?? node;
    const { startedAt } = started;
    this.#sink?.report(step.launch.key, { type: 'running', startedAt, nodeID: node, runID: id, host });
    step.isRunning = true;
  }

  /**
   * Slurm does not list the step. Of a job that ends, it lists none, although their processes may still run. And a controller
   * that has crashed may have forgotten the step: then its node decides.
   */
  async #end(step: Step): Promise<void> {
    const { launch, records, isStopped, jobId } = step;
    const isOurs = jobId === this.#job.id;
    if (!isOurs && !(await hasJobEnded(this.#slurm, jobId))) return;
    step.missedAt ??= performance.now();
    const exit = await records.readExit();
    const fault = await records.readFault();
    // From then on, a step of an earlier process that Slurm still creates does nothing.
    const hasStarted = !(await records.claim('ended'));
    if (hasStarted && exit === undefined && fault === undefined) {
      if (performance.now() - step.missedAt < this.#graceMs) return;
      if (isOurs && (await this.#mayBeAlive(step))) return;
    }
    const failure = hasStarted ? undefined : await this.#describeFailure(step);
    this.#steps.delete(launch.key);
    const end = isStopped ? ({ kind: 'stopped' } as const) : endOf(exit, fault ?? failure);
    this.#sink?.report(launch.key, { type: 'ended', endedAt: exit?.endedAt ?? Date.now(), end });
  }

  async #mayBeAlive(step: Step): Promise<boolean> {
    const { launch, records } = step;
    if (await this.#storage.inThread(() => hasReported(launch))) return true;
    if (performance.now() - step.askedAt < ASK_MS) return true;
    step.askedAt = performance.now();
    const node = step.node ?? (await records.readStart())?.node;
    return node === undefined || !(await isGone(this.#slurm, { ...launch, jobId: step.jobId, node }));
  }

  async #describeFailure({ launch, node }: Step): Promise<string> {
    const said = (await readSrunOutput(launch)) ?? 'its step did not start';
    return `srun could not start its agent on ${node ?? 'a node'}: ${said}; use this node only with --engine local`;
  }

  #checkRuntime(launch: Launch): void {
    if (this.#rules.runtime === 'none' && launch.image !== undefined)
      throw new EngineError(
        'REJECTED',
        `could not run image ${launch.image}: nodes of ${this.#name} run commands only; set the option \`runtime: charliecloud\` of the engine slurm-job, or use --engine slurm with a \`runtime\`, or --engine local on a node with docker or podman`,
      );
    checkRuntime(launch, this.#rules);
  }

  get #name(): string {
    const { id, nodes } = this.#job;
    return nodes.length === 0 ? 'a job' : `job ${id}`;
  }

  #describeUnsuited({ limits: { cores, memoryBytes, gpus }, job }: Launch): string {
    const { limitMs } = this.#job;
    const name = this.#name;
    const { duration } = job ?? {};
    if (duration !== undefined && limitMs !== undefined && duration > USABLE_PART * limitMs)
      return `it is expected to run for ${minutes(duration)}, and ${name} has a time limit of ${minutes(limitMs)}, of which the start and the end take a part; submit a job with a higher limit`;
    const withGpus = gpus === 0 ? '' : `, and ${gpus} GPU${gpus === 1 ? '' : 's'}`;
    const size = `${cores} cores and ${Math.ceil(memoryBytes / 2 ** 20)} MiB${withGpus}`;
    return `no node of ${name} has ${size} for one container; request less, or submit a job with more of each node`;
  }
}

/** Whether the agent has written a report lately. It does so every 10 s. */
async function hasReported({ directory }: Launch): Promise<boolean> {
  const { mtimeMs } = await stat(join(directory, REPORTS));
  return Date.now() - mtimeMs < SILENT_MS;
}

/** Of an agent that no one has stopped. What its exit code says counts only if no signal came. */
function endOf(exit: ExitRecord | undefined, fault: string | undefined): End {
  if (exit?.asked === true) return { kind: 'fault', reason: 'Slurm has ended its job' };
  if (fault !== undefined) return { kind: 'fault', reason: fault };
  if (exit !== undefined) return { kind: 'exited', exitCode: exit.exitCode };
  return { kind: 'fault', reason: 'its job ended without an exit record' };
}

function minutes(ms: number): string {
  return `${Math.ceil(ms / 60_000)} min`;
}

function unavailable(why: string): EngineError {
  return new EngineError('UNAVAILABLE', why);
}
