import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContainerService, createHttpService } from '@sluice/client';
import { type ServiceUnderTest, shellSpec } from '@sluice/client/contract';
import type { Principal } from '../src/accounts/principal.ts';
import { openUserDirectory } from '../src/accounts/user-directory.ts';
import { type ServiceConfig, type ServiceConfigInput, serviceConfigSchema } from '../src/config/service-config.ts';
import { createService, type Service } from '../src/service/service.ts';
import type { ServiceOptions } from '../src/service/service-options.ts';
import { FakeEngine } from './fakes/fake-engine.ts';
import { VirtualClock } from './fakes/virtual-clock.ts';

export const SCOPE = { clusterID: 'one', accountID: 'mine' };
const FOREIGN_SCOPE = { clusterID: 'three', accountID: 'yours' };
export const PRINCIPAL: Principal = { userId: 'u-test', accounts: [SCOPE, { clusterID: 'two', accountID: 'mine' }] };

/** A service with three clusters, in its own directory. */
export interface Rig {
  readonly root: string;
  readonly config: ServiceConfig;
  readonly clock: VirtualClock;
  readonly engines: NonNullable<ServiceOptions['engines']>;
  readonly service: Service;
  /** Closes and reopens the service, as a restart does. */
  restart(): Promise<Service>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly engines?: ServiceOptions['engines'];
  readonly engine?: string;
  readonly cores?: number;
  /** The parent of its directory. Default: the directory for temporary files. */
  readonly parent?: string;
  readonly config?: Partial<ServiceConfigInput>;
}

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const root = mkdtempSync(join(options.parent ?? tmpdir(), 'sluice-service-'));
  const clock = new VirtualClock();
  const config = rigConfig(root, options);
  const engines = { idle: () => new FakeEngine(), ...options.engines };
  const open = () => createService({ config, clock, engines });
  let service = await open();
  return {
    root,
    config,
    clock,
    engines,
    get service() {
      return service;
    },
    async restart() {
      await service.close();
      service = await open();
      return service;
    },
    async close() {
      await service.close();
      // The containers continue, and may be writing.
      rmSync(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function rigConfig(root: string, options: RigOptions) {
  const { engine = 'process', cores = 8 } = options;
  const instanceTypes = [
    { id: 'small', cpu: 1, memory: '1GB' },
    { id: 'big', cpu: 4, memory: '4GB' },
  ];
  const capacity = { cpu: cores, memory: '64GB' };
  // On the process engine, accounts would share one user, which the configuration rejects.
  const foreign = engine === 'process' ? 'idle' : engine;
  return serviceConfigSchema.parse({
    root,
    cancelGrace: '2s',
    clusters: [
      { id: 'one', engine, capacity, accounts: ['mine'], instanceTypes },
      { id: 'two', engine, capacity, accounts: ['mine'], instanceTypes: [{ id: 'other', cpu: 1, memory: '1GB' }] },
      { id: 'three', engine: foreign, capacity, accounts: ['yours'], instanceTypes },
    ],
    ...options.config,
  });
}

/** The rig in the form of the contract suite. `reach` creates the client of the service. */
export async function underContract(
  reach: (rig: Rig) => Promise<ContainerService>,
  options?: RigOptions,
): Promise<ServiceUnderTest> {
  const rig = await openRig(options);
  const service = await reach(rig);
  return {
    service,
    scope: SCOPE,
    foreignScope: FOREIGN_SCOPE,
    instanceType: 'small',
    runsCommands: true,
    spec: (plan) => shellSpec('small', plan),
    advance: (ms) => rig.clock.advance(ms),
    async close() {
      await service.close();
      await rig.close();
    },
  };
}

export const USER = { email: 'ada@example.org', password: 'enigma-1815' };

/** The service over TCP on loopback, logged in as a user who was added beside the running service. */
export async function reachByHttp(rig: Rig): Promise<ContainerService> {
  const users = await openUserDirectory(rig.root, rig.clock);
  await users.add(USER);
  for (const account of PRINCIPAL.accounts) await users.grant(USER.email, account);
  await users.close();
  const { url } = await rig.service.listen({ host: '127.0.0.1', port: 0 });
  return createHttpService({ baseUrl: url, login: USER });
}

/** The service over a Unix socket that needs no login. */
export async function reachBySocket(rig: Rig): Promise<ContainerService> {
  const socketPath = join(rig.root, 'api.sock');
  const { url } = await rig.service.listen({ socketPath, principal: PRINCIPAL });
  return createHttpService({ baseUrl: url, socketPath, token: 'not-needed' });
}
