import type { RunnerEvent } from '@sluice/run';
import { createMemoryDisk, type MemoryDisk } from '../../../home/test/memory-disk.ts';
import { createRandom } from '../../../run/test/random.ts';
import type { RunnerOptions } from '../../src/session/run-options.ts';
import { type Dialect, OWN_DIALECT } from './dialect.ts';
import { CALM, type FaultRates } from './faults.ts';
import { createRealClock } from './real-clock.ts';
import { createProcess, type SimulatedProcess } from './simulated-process.ts';
import {
  type Behaviour,
  createSimulatedService,
  type SimulatedContainer,
  type SimulatedService,
} from './simulated-service.ts';
import { createVirtualClock, runUntilSettled, type VirtualClock } from './virtual-clock.ts';

export interface RigOptions {
  readonly hints?: boolean;
  readonly dialect?: Partial<Dialect>;
  readonly faults?: Partial<FaultRates>;
  readonly quota?: number;
  /** What the service's instance types announce; by default that inputs can be mounted read-only. */
  readonly features?: readonly string[];
  /** Real time: for tests that read and write real files. */
  readonly realTime?: boolean;
  /** By step name; a step that is not named succeeds after 100 ms. */
  readonly behave?: Readonly<Record<string, Partial<Behaviour>>>;
}

/** A simulated world for one test: service, disk and clock, and what a runner needs to work in it. */
export interface Rig {
  readonly clock: VirtualClock;
  readonly disk: MemoryDisk;
  readonly simulated: SimulatedService;
  readonly events: RunnerEvent[];
  readonly options: RunnerOptions & { readonly scope: { clusterID: string; accountID: string } };
  /** Every container that was ever created, in order. */
  created(): SimulatedContainer[];
  /** A process of this world, which can be killed. */
  process(): SimulatedProcess;
  /** Moves time on until the promise has settled. */
  go<T>(promise: Promise<T>): Promise<T>;
  until(condition: () => boolean): Promise<void>;
}

export function createRig(seed: string, given: RigOptions = {}): Rig {
  const clock = given.realTime ? createRealClock() : createVirtualClock();
  const disk = createMemoryDisk();
  const created: SimulatedContainer[] = [];
  const events: RunnerEvent[] = [];
  const simulated = createSimulatedService({
    clock,
    random: createRandom(seed),
    dialect: { ...OWN_DIALECT, ...given.dialect },
    faults: () => ({ ...CALM, ...given.faults }),
    hints: given.hints ?? true,
    ...(given.quota !== undefined && { quota: given.quota }),
    features: given.features ?? ['read-only-mounts'],
    behave: (spec) => ({
      pendingMs: 20,
      runMs: 100,
      end: 'Succeeded',
      ...given.behave?.[spec.labels?.['sluice-step'] ?? ''],
    }),
    onDeed: (deed) => {
      if (deed.kind === 'created') created.push(deed.container);
    },
  });
  return {
    clock,
    disk,
    simulated,
    events,
    options: {
      service: simulated.service,
      home: '/home',
      clock,
      disk,
      scope: { clusterID: 'sim', accountID: 'me' },
      reporter: { report: (event) => void events.push(event) },
    },
    created: () => created,
    process: () => createProcess({ clock, disk, service: simulated.service }),
    go: (promise) => runUntilSettled(clock, promise),
    until: (condition) => clock.runUntil(condition),
  };
}
