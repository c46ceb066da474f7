import { fileURLToPath } from 'node:url';
import type { ProcessConfig } from '../../../src/engines/process/process-config.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { describeEngine } from '../describe-engine.ts';
import type { EngineUnderTest } from '../engine-under-test.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };

describeProcessEngine('process, native', { launcher: 'native' });
describeProcessEngine('process, shell', { launcher: 'shell' });
if (isRoot) {
  const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  describeProcessEngine('process, native, as an ordinary user', { launcher: 'native', prefix });
  describeProcessEngine('process, shell, as an ordinary user', { launcher: 'shell', prefix });
}

function describeProcessEngine(name: string, wanted: ProcessConfig): void {
  const config = { launcherPath, ...wanted };
  const isPrivileged = isRoot && wanted.prefix === undefined;
  const subject: EngineUnderTest = {
    module: fileURLToPath(new URL('./create-engine.ts', import.meta.url)),
    environment: { SLUICE_TEST_PROCESS_CONFIG: JSON.stringify(config) },
    ...(wanted.prefix !== undefined && { owner: nobody }),
    ordersStreams: true,
    keepsBytes: true,
    memoryLimit: isPrivileged && wanted.launcher === 'native' ? 'tree' : 'process',
    coreLimit: wanted.launcher === 'native',
    hostRoot: true,
    hidesInit: true,
    refusesMissingCommand: true,
    holdsSwappedLinks: true,
  };
  describeEngine(name, () => createProcessEngine(config), subject);
}
