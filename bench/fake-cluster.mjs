// A service whose one cluster runs nothing, for benches: what they measure is the service and those who use it.
import { readFileSync } from 'node:fs';
import { createService, openUserDirectory, serviceConfigSchema } from '@sluice/service';

export const SCOPE = { clusterID: 'bench', accountID: 'bench' };
export const PRINCIPAL = { userId: 'bench', accounts: [SCOPE] };
export const USER = { email: 'bench@example.org', password: 'bench password' };
export const CONTAINERS = '/api/v1rc1/clusters/bench/accounts/bench/containers';
export const INSTANCE_TYPE = 'tiny';

/**
 * Containers run as soon as they are launched; `launched(launch, end)` is called for each and may end it. Without `capacity`,
 * all of them run at once.
 */
export function openFakeCluster(root, launched, capacity) {
  const instanceTypes = [{ id: INSTANCE_TYPE, cpu: 1, memory: '1GB' }];
  const cluster = { id: SCOPE.clusterID, engine: 'fake', accounts: [SCOPE.accountID], instanceTypes };
  const clusters = [{ ...cluster, ...(capacity && { capacity }) }];
  const config = serviceConfigSchema.parse({ root, clusters });
  return createService({ config, engines: { fake: () => createFakeEngine(launched) } });
}

function createFakeEngine(launched) {
  let sink;
  return {
    features: [],
    async open(to) {
      sink = to;
    },
    async launch(launch) {
      const { key } = launch;
      sink.report(key, { type: 'running', startedAt: Date.now(), nodeID: 'bench', runID: key, host: '127.0.0.1' });
      launched(launch, () =>
        sink.report(key, { type: 'ended', endedAt: Date.now(), end: { kind: 'exited', exitCode: 0 } }),
      );
    },
    async recover() {},
    async stop() {},
    async remove() {},
    async close() {},
  };
}

/** Lets `USER` in; before or after the service of this root is there. */
export async function addUser(root) {
  const users = await openUserDirectory(root);
  await users.add(USER);
  await users.grant(USER.email, SCOPE);
  await users.close();
}

/** Bytes that a process, by default this one, holds of its own, without what it has mapped of files. */
export function ownMemory(pid = 'self') {
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}
