import type { StorageAccess } from '../../storage/storage-access.ts';
import type { EngineSink } from '../engine.ts';
import { claimAbsent } from '../process/process-records.ts';
import type { SlurmJobs } from '../slurm/slurm-engine.ts';
import {
  createGroup,
  type Group,
  type GroupIdentity,
  groupKey,
  noteFailure,
  type PooledContainer,
} from './allocation-group.ts';
import type { EndedObservation } from './spool-lines.ts';
import { tryLaunch } from './try-launch.ts';

/** Pause before another try with a container. */
const PAUSE_MS = 1000;

/** The containers of a pool, with what is reported of them, while they are in no allocation. */
export class PooledContainers {
  readonly byKey = new Map<string, PooledContainer>();
  readonly #groups = new Map<string, Group>();
  readonly #jobs: SlurmJobs;
  readonly #storage: StorageAccess;
  /** Nothing is reported without it. */
  sink: EngineSink | undefined;

  constructor({ jobs, storage }: { readonly jobs: SlurmJobs; readonly storage: StorageAccess }) {
    this.#jobs = jobs;
    this.#storage = storage;
  }

  get groups(): readonly Group[] {
    return [...this.#groups.values()];
  }

  groupOf(of: GroupIdentity): Group {
    const key = groupKey(of);
    const group = this.#groups.get(key) ?? createGroup(of);
    this.#groups.set(key, group);
    return group;
  }

  /** Forgets those that wait. The service launches what it still wants of them. */
  forgetWaiting(): void {
    for (const { waiting } of this.groups) {
      for (const [key, container] of waiting) if (this.byKey.get(key) === container) this.byKey.delete(key);
      waiting.clear();
    }
  }

  fail(group: Group, why: string): void {
    noteFailure(group, why);
    this.explain(group, group.reason);
  }

  /** Reports to all waiting containers of a group what they wait for. */
  explain(group: Group, reason: string): void {
    group.reason = reason;
    for (const key of group.waiting.keys()) this.sink?.report(key, { type: 'pending', reason });
  }

  /** `why`: it is not assigned again at once, for this reason. */
  wait(container: PooledContainer, why?: string): void {
    // Stopped meanwhile.
    if (container.ended !== undefined) return;
    container.node = undefined;
    container.group.waiting.set(container.launch.key, container);
    if (why === undefined) return;
    container.notBefore = performance.now() + PAUSE_MS;
    this.sink?.report(container.launch.key, { type: 'pending', reason: why });
  }

  /** A storage that does not answer now is asked again. */
  async endIfStopped(container: PooledContainer): Promise<void> {
    if (!container.isStopped || container.moving !== undefined) return;
    await this.endWaiting(container).catch((error: Error) => this.wait(container, error.message));
  }

  async endWaiting(container: PooledContainer): Promise<void> {
    const { key, directory } = container.launch;
    // If Slurm was wrong about the end of an allocation, an agent of it could still start the container.
    await this.#storage.inThread(() => claimAbsent(directory));
    container.group.waiting.delete(key);
    this.end(container, { type: 'ended', endedAt: Date.now(), end: { kind: 'stopped' } });
  }

  end(container: PooledContainer, ended: EndedObservation): void {
    container.node = undefined;
    if (container.ended !== undefined) return;
    container.ended = ended;
    this.sink?.report(container.launch.key, ended);
  }

  /** Once it is known where its node is. */
  reportRunning({ launch, running, node }: PooledContainer): void {
    const place = node?.place;
    if (running !== undefined && place !== undefined) this.sink?.report(launch.key, { ...running, ...place });
  }

  /** No allocation can hold it. From the first try on, a job of it may exist. */
  moveToJobs(container: PooledContainer | undefined): void {
    if (container === undefined || container.isStopped) return;
    container.group.waiting.delete(container.launch.key);
    container.moving = this.#move(container);
  }

  async #move(container: PooledContainer): Promise<void> {
    const failure = await tryLaunch(() => this.#jobs.launch(container.launch));
    if (failure === undefined) this.byKey.delete(container.launch.key);
    else if (failure.later !== undefined) this.wait(container, `Slurm does not take it: ${failure.later}`);
    else this.end(container, { type: 'ended', endedAt: Date.now(), end: failure.end });
  }

  /** Slurm may have taken a job whose reply was lost. */
  async stopJob(container: PooledContainer, options: { graceMs: number }): Promise<void> {
    const { key } = container.launch;
    await container.moving;
    if (container.ended !== undefined) return;
    if (this.byKey.has(key)) await this.#jobs.recover([container.launch]);
    container.group.waiting.delete(key);
    this.byKey.delete(key);
    await this.#jobs.stop(key, options);
  }
}
