import { afterAll, beforeAll, describe } from 'vitest';
import type { ProcessConfig } from '../../../src/engines/process/process-config.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { type AttackSubject, describeAttacks, WITHOUT_FILTER } from '../attacks/describe-attacks.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { asNobody, copyLauncher, isBuilt, isRoot, nobody } from './copied-launcher.ts';

const { launcherPath, remove } = await copyLauncher();
afterAll(remove);

/** The network is the host's, and so are its other families: docs/engines.md says so. */
const network = { 'network-vsock': /opened/, 'network-path-socket': /connected/ };
/** The shell launcher has no filter of system calls. */
const shell: AttackSubject = { tolerated: { ...network, ...WITHOUT_FILTER } };
const native: AttackSubject = { tolerated: network, hidesAbstractSockets: true };
/** Without cgroups the number of processors is no limit that holds against the container's will. */
const affinity = { 'process-processors': /uses/ };

const nativeOfUser: AttackSubject = { ...native, tolerated: { ...network, ...affinity } };

describeMode('native launcher', { launcher: 'native' }, isRoot ? native : nativeOfUser);
describeMode('shell launcher', { launcher: 'shell' }, shell);
if (isRoot) {
  // As in a Docker container: there, only the filter of system calls forbids user namespaces.
  const script = 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys && exec "$@"';
  const prefix = ['unshare', '--mount', 'sh', '-c', script, 'sh'];
  // The kernel makes no other /proc where it cannot see a whole one, so the machine's is there, read-only for root.
  const tolerated = { ...network, 'process-of-host': /saw the host's process/ };
  describeMode(
    'native launcher, where /proc/sys is read-only',
    { launcher: 'native', prefix },
    { ...native, tolerated },
  );
  // The kernel makes no user namespace for a process in a chroot; its containers leave that by their own root.
  const chroot = ['unshare', '--mount', 'sh', '-c', 'mount --rbind / /mnt && exec chroot /mnt "$@"', 'sh'];
  describeMode('native launcher, without a user namespace', { launcher: 'native', prefix: chroot }, native);
  describeMode(
    'native launcher, as an ordinary user',
    { launcher: 'native', prefix: asNobody },
    { ...nativeOfUser, victimPrefix: asNobody },
  );
  describeMode(
    'shell launcher, as an ordinary user',
    { launcher: 'shell', prefix: asNobody },
    { ...shell, victimPrefix: asNobody },
  );
}

function describeMode(name: string, wanted: ProcessConfig, subject: AttackSubject): void {
  const config: ProcessConfig = { launcherPath, mountsBy: 'namespaces', ...wanted };
  const isMissing = !hasNamespaces || (wanted.launcher === 'native' && !isBuilt);
  describe.skipIf(isMissing)(`process engine, ${name}`, () => {
    const rig = new EngineRig(() => createProcessEngine(config), {
      ...(wanted.prefix === asNobody && { owner: nobody }),
      patienceMs: 120_000,
    });
    beforeAll(() => rig.open());
    afterAll(() => rig.close());
    describeAttacks(rig, subject);
  });
}
