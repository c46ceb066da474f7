import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '@sluice/client/contract';
import { expect, onTestFinished, test } from 'vitest';
import { hasNamespaces } from '../engines/has-namespaces.ts';
import { openRig, PRINCIPAL, SCOPE } from '../service-rig.ts';

test.runIf(hasNamespaces)(
  'a container finds nothing in the storage of another cluster, which the first start of the service makes',
  async () => {
    // Not in /tmp, since each container has its own.
    const directory = await mkdtemp('/var/tmp/sluice-storages-');
    onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }));
    const instanceTypes = [{ id: 'small', cpu: 1, memory: '1GB' }];
    const cluster = (id: string) => ({
      ...{ id, engine: 'process', accounts: ['mine'], instanceTypes },
      storage: join(directory, id, 'storage'),
    });
    const rig = await openRig({ config: { clusters: [cluster('one'), cluster('two')] } });
    onTestFinished(() => rig.close());
    const storage = join(directory, 'two/storage');
    expect(existsSync(join(storage, 'volumes'))).toBe(true);
    await writeFile(join(storage, 'secret'), 'of another cluster');
    const service = rig.service.inProcess(PRINCIPAL);
    const command = ['sh', '-c', `ls -A ${storage}; cat ${storage}/secret`];
    const { id } = await service.containers.create(SCOPE, { instanceType: 'small', command });
    const ref = { ...SCOPE, id };
    await until('it has ended', async () => (await service.containers.get(ref)).phase === 'Failed');
    let log = '';
    for await (const part of service.containers.logs(ref)) log += Buffer.from(part).toString();
    expect(log).toContain('No such file');
    expect(log).not.toContain('of another cluster');
  },
);
