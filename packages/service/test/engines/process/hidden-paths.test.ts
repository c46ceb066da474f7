import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProcessEngine } from '../../../src/engines/process/process-engine.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasNamespaces } from '../has-namespaces.ts';
import { asNobody, copyLauncher, isBuilt, isRoot, nobody } from './copied-launcher.ts';

const { launcherPath, remove } = await copyLauncher();
afterAll(remove);

const users = isRoot ? [[], asNobody] : [[]];
const cases = (['native', 'shell'] as const).flatMap((launcher) => users.map((prefix) => ({ launcher, prefix })));

for (const { launcher, prefix } of cases) {
  const isMissing = !hasNamespaces || (launcher === 'native' && !isBuilt);
  const name = `process engine, ${launcher} launcher${prefix === asNobody ? ', as an ordinary user' : ''}`;
  describe.skipIf(isMissing)(name, () => {
    // Not beneath /tmp, of which each container has its own.
    const above = mkdtempSync('/var/tmp/sluice-hidden-');
    chmodSync(above, 0o755);
    const hidden = join(above, 'home');
    const config = { launcherPath, launcher, mountsBy: 'namespaces', prefix } as const;
    const rig = new EngineRig(
      () => createProcessEngine(config, { maskedPaths: [hidden] }),
      prefix === asNobody ? { owner: nobody } : {},
    );
    beforeAll(async () => {
      mkdirSync(join(hidden, 'inner'), { recursive: true });
      for (const file of ['secret', 'inner/secret']) writeFileSync(join(hidden, file), 'of the home');
      await rig.open();
    });
    afterAll(async () => {
      await rig.close();
      rmSync(above, { recursive: true });
    });

    test.each([
      ['beside a hidden directory', join(above, 'new')],
      ['at a hidden directory', hidden],
      ['at a directory that exists in a hidden one', join(hidden, 'inner')],
      ['below a hidden directory', join(hidden, 'new/deep')],
    ])('a mount point %s is made, and shows nothing else of it', async (_, target) => {
      const volume = `volume-${target.length}`;
      const root = await rig.makeDirectory(volume);
      const mounts = [{ root, subPath: '', kind: 'dir' as const, target }];
      const script =
        'echo kept >"$1/f"; [ "$1" = "$2" ] || touch "$2/x"; find "$2" -type f; cat "$2/secret" "$2/inner/secret"';
      const container = await rig.run(`{ ${script}; } 2>/dev/null; echo over`, { mounts, args: [target, hidden] });
      expect(await container.text()).toBe(target.startsWith(hidden) ? `${target}/f\nover\n` : 'over\n');
      expect(await rig.read(`${volume}/f`)).toBe('kept\n');
    });
  });
}
