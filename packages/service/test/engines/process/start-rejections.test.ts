import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';

const launcherPath = fileURLToPath(new URL('../../../native/build/launcher', import.meta.url));
const isBuilt = existsSync(launcherPath) || process.env.CI === 'true';

const WAYS = [
  ...(isBuilt && hasNamespaces ? ([['native', 'namespaces']] as const) : []),
  ...(isBuilt ? ([['native', 'translation']] as const) : []),
  ...(hasNamespaces ? ([['shell', 'namespaces']] as const) : []),
  ['shell', 'rewriting'] as const,
];

describe.each(WAYS)('Process engine with the %s launcher by %s', (launcher, mountsBy) => {
  const create = () => createProcessEngine({ launcherPath, launcher, mountsBy });
  const rig = new EngineRig(create);

  beforeAll(() => rig.open());
  afterAll(() => rig.close());

  test.each([
    ['no-such-program', /^could not start 'no-such-program': no such command in PATH \(127\)$/],
    ['/v/none', /^could not start '.*none': No such file or directory \(127\)$/],
    ['/v/text', /^could not start '.*text': permission denied: it must be executable \(chmod \+x\) \(126\)$/],
    ['/v', /^could not start '.*': it is a directory \(126\)$/],
  ])('tells a missing program from one that may not be run: %s', async (program, reason) => {
    const root = await rig.makeDirectory('programs');
    await rig.write('programs/text', '#!/bin/sh\n', 0o644);
    const mounts = [{ root, subPath: '', kind: 'dir' as const, target: '/v' }];
    const container = await rig.launch({ command: [program], mounts });
    expect(await container.end()).toMatchObject({ kind: 'rejected', reason: expect.stringMatching(reason) });
  });
});
