import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProcessConfig } from '../../../src/engines/process/process-config.ts';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { probeProcess } from '../../../src/engines/process/process-probe.ts';
import { describeEngine } from '../describe-engine.ts';
import type { EngineUnderTest } from '../engine-under-test.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { asNobody, copyLauncher, isBuilt, isRoot, nobody } from './copied-launcher.ts';

/** Only with it does root repeat these tests as an ordinary user: CI runs them as one. */
const isSoak = process.env.SLUICE_SOAK === 'true';

// Another user may not reach the working tree, hence runs a copy.
const { launcherPath, remove } = await copyLauncher();
afterAll(remove);

await describeProcessEngine('process, native', { launcher: 'native', mountsBy: 'namespaces' });
await describeProcessEngine('process, shell', { launcher: 'shell', mountsBy: 'namespaces' });
await describeProcessEngine('process, without namespaces', { launcher: 'native', mountsBy: 'translation' });
await describeProcessEngine('process, without namespaces and compiler', { launcher: 'shell', mountsBy: 'rewriting' });
if (isRoot) {
  const prefix = asNobody;
  await describeProcessEngine('process, native, as an ordinary user', {
    launcher: 'native',
    mountsBy: 'namespaces',
    prefix,
  });
  await describeProcessEngine('process, without namespaces, as an ordinary user', {
    launcher: 'native',
    mountsBy: 'translation',
    prefix,
  });
  await describeProcessEngine('process, shell, as an ordinary user', {
    launcher: 'shell',
    mountsBy: 'namespaces',
    prefix,
  });
}

const hasLegacyGroups = isRoot && hasNamespaces && existsSync('/sys/fs/cgroup/memory/memory.limit_in_bytes');
test.runIf(isBuilt && hasLegacyGroups)('as root on a machine with cgroups, they are what limits', async () => {
  expect(await probeProcess({ launcherPath })).toMatchObject({ memory: 'cgroup1', cores: 'cgroup1' });
});

async function describeProcessEngine(name: string, wanted: ProcessConfig): Promise<void> {
  const config = { launcherPath, ...wanted };
  const probe = await probeProcess(config);
  const limits = probe.works ? probe : { memory: 'rlimit', cores: 'none' };
  const isIsolated = wanted.mountsBy === 'namespaces';
  const subject: EngineUnderTest = {
    module: fileURLToPath(new URL('./create-engine.ts', import.meta.url)),
    environment: { SLUICE_TEST_PROCESS_CONFIG: JSON.stringify(config) },
    ...(wanted.prefix !== undefined && { owner: nobody }),
    ordersStreams: true,
    pipesLog: true,
    keepsBytes: true,
    memoryLimit: limits.memory === 'rlimit' ? 'process' : 'tree',
    coreLimit: limits.cores !== 'none',
    hostRoot: isIsolated,
    hidesInit: isIsolated,
    // The shell launcher starts four programs for each mount, hence fewer.
    mounts: wanted.launcher === 'native' && isSoak ? 10_000 : 1100,
    patienceMs: 300_000,
    rejectsMissingCommand: true,
    startsTasks: true,
    holdsSwappedLinks: isIsolated,
    ...(!isIsolated && { sharesMachine: true }),
    ...(wanted.mountsBy === 'rewriting' && { rewritesPaths: true }),
  };
  const isLeftOut = wanted.prefix !== undefined && !isSoak;
  const isMissing = (wanted.launcher === 'native' && !isBuilt) || (isIsolated && !hasNamespaces);
  describe.skipIf(isMissing || isLeftOut)(`${name} launcher`, () => {
    describeEngine(name, () => createProcessEngine(config), subject);
  });
}
