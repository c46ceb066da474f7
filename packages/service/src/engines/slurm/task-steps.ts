import type { StorageAccess } from '../../storage/storage-access.ts';
import { ALLOCATION_ENDED } from '../allocation/allocation-ended.ts';
import { holds } from '../allocation/plan-allocations.ts';
import { type End, EngineError, type Launch, type Limits, type Observation } from '../engine.ts';
import { tasksOf } from '../tasks-of.ts';
import { STOP_SIGNAL } from './script-lines.ts';
import type { SlurmCommands } from './slurm-commands.ts';
import type { SlurmJobConfig } from './slurm-job-config.ts';
import { ALL_OF_NODE, type NodeAddresses } from './slurm-nodes.ts';
import { openSlurmRecords, type SlurmRecords } from './slurm-records.ts';
import { slurmScript } from './slurm-script.ts';
import { hasJobEnded, type SlurmStep } from './slurm-step-list.ts';
import { TASKS_NAME } from './slurm-tasks.ts';
import { isGone, readSrunOutput, type Srun, startSrun } from './step-container.ts';

/** How often what must end is killed. */
const KILL_MS = 5000;
/** How often the nodes of a step that Slurm does not list are asked about it. */
const ASK_MS = 10_000;

type Node = SlurmJobConfig['nodes'][number];

/** A container with several tasks. */
interface TaskStep {
  readonly launch: Launch;
  readonly records: SlurmRecords;
  readonly jobId: string;
  /** For nodes. */
  isWaiting: boolean;
  /** The names of those of this job that it has. */
  nodes: readonly string[];
  /** Undefined of a step of an earlier process, and of one that waits. */
  srun: Srun | undefined;
  isRunning: boolean;
  isStopped: boolean;
  /** Whether its script was asked to end. */
  isAsked: boolean;
  /** When it is killed, by a monotonic clock. */
  killAt: number;
  /** When it was first missing without an exit record, by a monotonic clock. */
  missedAt: number | undefined;
  /** When its nodes were last asked about it, by a monotonic clock. */
  askedAt: number;
}

interface AskedStep {
  readonly step: TaskStep;
  readonly mayStart: boolean;
}

/** What the steps work with. */
export interface TaskStepsOptions {
  readonly job: SlurmJobConfig;
  readonly slurm: SlurmCommands;
  readonly storage: StorageAccess;
  readonly addressOf: NodeAddresses;
  /** How long an exit record may be late. */
  readonly recordGraceMs: number;
  readonly findMaskedPaths: () => Promise<string[]>;
  readonly report: (key: string, observation: Observation) => void;
  /** The names of the nodes that have an agent. */
  readonly agentNodes: () => ReadonlySet<string>;
}

/**
 * Runs containers with several tasks as steps of the job in which the service runs. Such a step gets whole nodes, without an
 * agent: it waits until there are enough, and no agent begins on those that it will get. Its script runs on the first of
 * them, is that of a job of its own, and starts the tasks as another step.
 */
export class TaskSteps {
  readonly #options: TaskStepsOptions;
  /** In the order of their launch. */
  readonly #steps = new Map<string, TaskStep>();

  constructor(options: TaskStepsOptions) {
    this.#options = options;
  }

  readonly has = (key: string): boolean => this.#steps.has(key);

  /** The names of the nodes that have one. */
  get nodes(): ReadonlySet<string> {
    return new Set([...this.#steps.values()].flatMap(({ nodes }) => nodes));
  }

  /** On how many nodes there may be agents now. */
  get mostAgents(): number {
    const next = this.#next();
    const wanted = next === undefined ? 0 : tasksOf(next.launch).nodes;
    return Math.max(0, this.#options.job.nodes.length - this.nodes.size - wanted);
  }

  /** Starts it when its nodes are free. Throws `EngineError` `REJECTED` if the job does not have them. */
  async launch(launch: Launch): Promise<void> {
    if (this.#steps.has(launch.key)) return;
    const { job, storage } = this.#options;
    const { nodes } = tasksOf(launch);
    const large = job.nodes.filter((node) => isLargeEnough(node, launch)).length;
    const name = job.nodes.length === 0 ? 'a job' : `job ${job.id}`;
    if (large < nodes) {
      const has = large === job.nodes.length ? `${name} has ${large}` : `${large} nodes of ${name} have so much`;
      const advice = 'request less, or submit a job with more; with --engine slurm, each container is a job';
      throw new EngineError(
        'REJECTED',
        `its tasks need ${count(nodes, 'node')} with ${sizeOf(launch)} each, and ${has}: ${advice}`,
      );
    }
    if ((await openSlurmRecords(launch.directory, storage).readJobId()) !== undefined)
      return await this.recover(launch);
    this.#add(launch, { jobId: job.id, isWaiting: true });
    this.#wait(launch, `waits for ${count(nodes, 'node')} of ${name}`);
  }

  /** Continues with one of an earlier process. */
  async recover(launch: Launch): Promise<void> {
    const records = openSlurmRecords(launch.directory, this.#options.storage);
    const jobId = await records.readJobId();
    if (jobId === undefined) {
      this.#options.report(launch.key, { type: 'absent' });
      return;
    }
    const { job } = this.#options;
    const isStopped = await records.isStopped();
    const names = jobId === job.id ? await records.readNodes() : [];
    const step = this.#add(launch, { jobId, isWaiting: false });
    step.nodes = names.filter((name) => job.nodes.some((node) => node.name === name));
    if (isStopped) this.#markStopped(step, 0);
  }

  /** The next `settle` asks one that runs to end. */
  async stop(key: string, { graceMs }: { graceMs: number }): Promise<void> {
    const step = this.#steps.get(key);
    if (step === undefined) return;
    this.#markStopped(step, graceMs);
    if (step.isWaiting) {
      this.#end(step, { kind: 'stopped' });
      return;
    }
    await step.records.writeStop().catch(() => undefined);
  }

  remove(key: string): void {
    this.#steps.delete(key);
  }

  /** Starts the next one if its nodes are free. */
  async startNext(): Promise<void> {
    const step = this.#next();
    if (step === undefined) return;
    const { launch } = step;
    const used = new Set([...this.nodes, ...this.#options.agentNodes()]);
    const free = this.#options.job.nodes.filter((node) => !used.has(node.name) && isLargeEnough(node, launch));
    const { nodes } = tasksOf(launch);
    if (free.length < nodes) return;
    step.isWaiting = false;
    step.nodes = free.slice(0, nodes).map(({ name }) => name);
    try {
      step.srun = await this.#start(step);
    } catch (error) {
      Object.assign(step, { isWaiting: true, nodes: [] });
      this.#wait(launch, `waits for its start: ${(error as Error).message}`);
    }
  }

  /** To call before Slurm is asked: what it lists may be older than a step whose `srun` ends meanwhile. */
  begin(): readonly AskedStep[] {
    const started = [...this.#steps.values()].filter(({ isWaiting }) => !isWaiting);
    return started.map((step) => ({ step, mayStart: step.srun?.isAlive === true }));
  }

  /** `listed`: the steps that are alive, by name. */
  async settle(asked: readonly AskedStep[], listed: ReadonlyMap<string, SlurmStep>): Promise<void> {
    for (const { step, mayStart } of asked) {
      const { key } = step.launch;
      const script = listed.get(key);
      const alive = [script, listed.get(key + TASKS_NAME)].filter((one) => one !== undefined);
      // A storage that does not answer now is asked again.
      if (alive.length > 0) await this.#follow(step, alive).catch(() => undefined);
      else if (!mayStart) await this.#settle(step).catch(() => undefined);
      if (script !== undefined && step.isRunning && step.isStopped && !step.isAsked) await this.#ask(step, script);
    }
  }

  async #start({ launch, records, jobId, nodes }: TaskStep): Promise<Srun> {
    const isRoot = process.geteuid?.() === 0;
    const { runtime } = this.#options.job;
    const config = {
      ...{ runtime, isRoot, nodes, maskedPaths: await this.#options.findMaskedPaths() },
      mpi: launch.job?.slurm?.mpi,
    };
    // Not an argument: it contains variables of the container.
    const input = slurmScript(launch, config);
    await records.writeNodes(nodes);
    await records.writeJobId(jobId);
    const args = [
      ...[`--jobid=${jobId}`, `--nodelist=${nodes[0]}`, '--nodes=1', '--ntasks=1', '--cpus-per-task=1'],
      ...[...ALL_OF_NODE, '--input=0', `--job-name=${launch.key}`, `--chdir=${launch.directory}`],
      ...['/bin/sh', '-c', '. /dev/stdin'],
    ];
    return await startSrun({ directory: launch.directory, args, input });
  }

  async #follow(step: TaskStep, alive: readonly SlurmStep[]): Promise<void> {
    step.missedAt = undefined;
    if (step.isStopped && performance.now() >= step.killAt) {
      step.killAt = performance.now() + KILL_MS;
      for (const { id } of alive) await this.#options.slurm.run('scancel', [id]).catch(() => undefined);
    }
    if (step.isRunning) return;
    const started = await step.records.readStart();
    if (started === undefined) return;
    const { node, startedAt } = started;
    const host = (await this.#options.addressOf(node)) ?? node;
    step.isRunning = true;
    this.#options.report(step.launch.key, { type: 'running', startedAt, nodeID: node, runID: alive[0]!.id, host });
  }

  /**
   * Slurm lists neither step. Of a job that ends, it lists none, although their processes may still run. And a controller that
   * has crashed may have forgotten them: then the nodes decide.
   */
  async #settle(step: TaskStep): Promise<void> {
    const { launch, records, isStopped, jobId } = step;
    const isOurs = jobId === this.#options.job.id;
    if (!isOurs && !(await hasJobEnded(this.#options.slurm, jobId))) return;
    step.missedAt ??= performance.now();
    const exit = await records.readExit();
    const rejection = await records.readRejection();
    const fault = await records.readFault();
    // From then on, a step that Slurm still creates does nothing.
    const hasStarted = !(await records.claim('ended'));
    if (hasStarted && exit === undefined) {
      if (performance.now() - step.missedAt < this.#options.recordGraceMs) return;
      if (isOurs && (await this.#mayBeAlive(step))) return;
    }
    if (isStopped) this.#end(step, { kind: 'stopped' });
    else if (exit?.asked === true) this.#end(step, ended('Slurm has ended its job'));
    else if (rejection !== undefined) this.#end(step, { kind: 'rejected', reason: rejection });
    else if (fault !== undefined) this.#end(step, { kind: 'fault', reason: fault });
    else if (exit !== undefined) this.#end(step, { kind: 'exited', exitCode: exit.exitCode }, exit.endedAt);
    else if (!isOurs) this.#end(step, ended('its job has ended'));
    else if (hasStarted) this.#end(step, { kind: 'fault', reason: 'its step ended without an exit record' });
    else {
      const said = (await readSrunOutput(launch)) ?? 'its step did not start';
      this.#end(step, { kind: 'fault', reason: `srun could not start its tasks: ${said}` });
    }
  }

  async #mayBeAlive(step: TaskStep): Promise<boolean> {
    const { launch, jobId, records } = step;
    if (performance.now() - step.askedAt < ASK_MS) return true;
    step.askedAt = performance.now();
    const known = step.nodes.length > 0 ? step.nodes : [(await records.readStart())?.node];
    for (const node of known)
      if (node === undefined || !(await isGone(this.#options.slurm, { ...launch, jobId, node }))) return true;
    return false;
  }

  /** Only the script receives the signal, and asks the tasks to end. It notes the signal from before its start record on. */
  async #ask(step: TaskStep, { id }: SlurmStep): Promise<void> {
    step.isAsked = true;
    await this.#options.slurm.run('scancel', [`--signal=${STOP_SIGNAL}`, id]).catch(() => {
      step.isAsked = false;
    });
  }

  /** The first one that waits, and may still end in time. */
  #next(): TaskStep | undefined {
    const leftMs = (this.#options.job.endsAt ?? Number.POSITIVE_INFINITY) - Date.now();
    return [...this.#steps.values()].find(
      ({ launch: { job }, isWaiting }) => isWaiting && (job?.time?.ms ?? job?.duration ?? 0) <= leftMs,
    );
  }

  #add(launch: Launch, from: Pick<TaskStep, 'jobId' | 'isWaiting'>): TaskStep {
    const records = openSlurmRecords(launch.directory, this.#options.storage);
    const rest = {
      nodes: [],
      srun: undefined,
      isRunning: false,
      isStopped: false,
      isAsked: false,
      missedAt: undefined,
    };
    const times = { killAt: Number.POSITIVE_INFINITY, askedAt: Number.NEGATIVE_INFINITY };
    const step: TaskStep = { launch, records, ...from, ...rest, ...times };
    this.#steps.set(launch.key, step);
    return step;
  }

  #markStopped(step: TaskStep, graceMs: number): void {
    step.isStopped = true;
    step.killAt = Math.min(step.killAt, performance.now() + graceMs);
  }

  #wait({ key }: Launch, reason: string): void {
    this.#options.report(key, { type: 'pending', reason });
  }

  #end({ launch }: TaskStep, end: End, endedAt = Date.now()): void {
    this.#steps.delete(launch.key);
    this.#options.report(launch.key, { type: 'ended', endedAt, end });
  }
}

/** A fault of which the client knows that it costs no retry. */
function ended(why: string): End {
  return { kind: 'fault', reason: `${ALLOCATION_ENDED}: ${why}` };
}

/** Of the tasks of one node. */
function ofNode({ limits, job }: Pick<Launch, 'limits' | 'job'>): Limits {
  const { nodes } = tasksOf({ job });
  const { cores, memoryBytes, gpus } = limits;
  return { cores: cores / nodes, memoryBytes: memoryBytes / nodes, gpus: gpus / nodes };
}

function isLargeEnough({ memoryMB, ...node }: Node, launch: Launch): boolean {
  return holds({ ...node, memoryBytes: memoryMB * 2 ** 20 }, ofNode(launch));
}

function sizeOf(launch: Launch): string {
  const { cores, memoryBytes, gpus } = ofNode(launch);
  const withGpus = gpus === 0 ? '' : ` and ${count(gpus, 'GPU')}`;
  return `${count(cores, 'core')}, ${Math.ceil(memoryBytes / 2 ** 20)} MiB${withGpus}`;
}

function count(size: number, word: string): string {
  return `${size} ${word}${size === 1 ? '' : 's'}`;
}
