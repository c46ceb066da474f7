import type { Container, ContainerService } from '@sluice/client';
import type { Plan, Step } from '@sluice/core';
import { expect } from 'vitest';
import { createHandPlan } from '../../../run/test/plans.ts';
import { resumeRun } from '../../src/run/resume-run.ts';
import { startRun } from '../../src/run/start-run.ts';
import type { RunHandle, StartRunOptions } from '../../src/session/run-options.ts';
import { writeFile } from '../simulation/memory-files.ts';
import { createRig, type Rig, type RigOptions } from '../simulation/rig.ts';

/** A simulated service with two clusters. */
export interface TwoClusters {
  readonly rig: Rig;
  /** Cluster by volume. */
  readonly volumes: ReadonlyMap<string, string>;
  start(steps: readonly Step[], more?: Partial<StartRunOptions>): Promise<RunHandle>;
  startPlan(plan: Plan, more?: Partial<StartRunOptions>): Promise<RunHandle>;
  resume(runId: string): Promise<RunHandle>;
}

/** The simulated service with a second cluster, `far`, whose only instance type is larger. */
export function createTwoClusters(seed: string, options: RigOptions = {}): TwoClusters {
  const volumes = new Map<string, string>();
  const rig = createRig(seed, options);
  const { service: one } = rig.options;
  const typeOn = (clusterID: string, cores: number) => ({
    id: `sim-${cores}`,
    clusterID,
    cpu: { cores },
    memory: { sizeGB: 4 },
    gpu: { count: 0 },
  });
  const service: ContainerService = {
    ...one,
    discovery: {
      listAccounts: async () => ['sim', 'far'].map((clusterID) => ({ clusterID, accountID: 'me' })),
      listInstanceTypes: async () => [typeOn('sim', 1), typeOn('far', 8)],
    },
    volumes: {
      ...one.volumes,
      async create(scope, more) {
        const made = await one.volumes.create(scope, more);
        volumes.set(made.id, scope.clusterID);
        return made;
      },
    },
  };
  const started = async (handle: ReturnType<typeof startRun>) => {
    const taken = await rig.go(handle);
    if (!taken.ok) throw new Error(taken.error.message);
    return taken.value;
  };
  const startPlan: TwoClusters['startPlan'] = (plan, more) =>
    started(startRun({ ...rig.options, service, plan, baseDir: '/base', ...more }));
  return {
    rig,
    volumes,
    startPlan,
    start: (steps, more) => startPlan(createHandPlan(steps), more),
    resume: (runId) => started(resumeRun({ ...rig.options, service, runId })),
  };
}

/** Writes a file into each output: this service does not mount read-only, and inputs must stay as they are. */
export const writes =
  (rig: () => Rig, text: string) =>
  (container: Container): void => {
    for (const [key, mountPoint] of Object.entries(container.volumeMounts ?? {})) {
      const [volume = '', at = '', option] = key.split(':');
      if (option === 'dir' && !mountPoint.startsWith('/in/'))
        writeFile(rig().simulated.volumes.get(volume)!, `${at}/file.txt`, Buffer.from(text));
    }
  };

/** The rule of the protocol: a container mounts volumes of its own cluster only. */
export function expectOwnVolumes({ rig, volumes }: TwoClusters): void {
  for (const { wire } of rig.created()) {
    for (const key of Object.keys(wire.volumeMounts ?? {})) {
      expect(`${wire.labels?.['sluice-step']} on ${volumes.get(key.split(':')[0]!)}`).toBe(
        `${wire.labels?.['sluice-step']} on ${wire.clusterID}`,
      );
    }
  }
}

/** The copies between clusters. */
export const across = (rig: Rig) =>
  rig.events.filter((event) => event.type === 'transfer' && event.direction === 'across');
/** The cluster of each container, with its step. */
export const clusters = (rig: Rig) =>
  rig.created().map(({ wire }) => `${wire.labels?.['sluice-step']} ${wire.clusterID}`);
