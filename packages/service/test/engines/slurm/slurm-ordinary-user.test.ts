import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { slurmConfigSchema } from '../../../src/engines/slurm/slurm-config.ts';
import { createSlurmEngine } from '../../../src/engines/slurm/slurm-engine.ts';
import { describeIdentity } from '../describe-identity.ts';
import { EngineRig } from '../engine-rig.ts';
import { hasSlurm, slurmSubject, withProgram } from './slurm-rig.ts';

const isRoot = process.geteuid?.() === 0;
const user = process.env.SLUICE_TEST_SLURM_USER ?? 'nobody';
const isMissing = (!hasSlurm && process.env.CI !== 'true') || !isRoot;
const idOf = (flag: string) => (isMissing ? 0 : Number(execFileSync('id', [flag, user], { encoding: 'utf8' })));

describe.skipIf(isMissing)('the node as image, as a user without rights', () => {
  // Not beneath /tmp, of which each container has its own.
  const storage = isMissing ? '' : mkdtempSync('/var/tmp/sluice-storage-');
  const subject = { ...slurmSubject({ partition: 'main' }), directory: storage };
  const config = slurmConfigSchema.parse({ unixUsers: { tester: user }, pollInterval: '200ms', recordGrace: '2000ms' });
  const rig = new EngineRig(() => createSlurmEngine(config, { storage, maskedPaths: [] }), subject);

  beforeAll(async () => {
    chmodSync(storage, 0o711);
    await rig.open();
  });
  afterAll(async () => {
    await rig.close();
    await rm(storage, { recursive: true, force: true });
  });

  describeIdentity(rig, { owner: { uid: idOf('-u'), gid: idOf('-g') } });

  /** A directory of root, beside the storage or at `above`, with mounts that are removed when the test has ended. */
  function makeHostDirectory(above = mkdtempSync('/var/tmp/sluice-host-')) {
    const points: string[] = [];
    onTestFinished(async () => {
      for (const point of points.reverse()) execFileSync('umount', [point]);
      await rm(above, { recursive: true });
    });
    return {
      above,
      mount: (name: string, ...args: string[]) => {
        execFileSync('mount', [...args, join(above, name)]);
        points.push(join(above, name));
      },
    };
  }

  it('starts where a directory that the user cannot search holds mounts, which stay out of reach', async () => {
    const { above, mount } = makeHostDirectory();
    for (const name of ['closed/deep/inner', 'open']) mkdirSync(join(above, name), { recursive: true });
    writeFileSync(join(above, 'closed/file'), '');
    // As the daemon of Docker has them: file systems of containers, and files of namespaces.
    mount('closed/deep/inner', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    mount('closed/file', '--bind', '/proc/self/ns/net');
    // As debugfs has tracefs.
    mount('open', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    mkdirSync(join(above, 'open/private/traces'), { recursive: true });
    mount('open/private', '-t', 'tmpfs', '-o', 'mode=700', 'tmpfs');
    mkdirSync(join(above, 'open/private/traces'));
    mount('open/private/traces', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    chmodSync(join(above, 'closed'), 0o700);
    chmodSync(above, 0o755);

    const gate = await rig.makeDirectory('gate');
    const script = `echo started >/gate/started; while [ ! -e /gate/go ]; do sleep 0.1; done
for f in closed/deep/inner open open/private/traces; do (echo x >"$1/$f/written") 2>/dev/null && echo "wrote $f"; done; echo over`;
    const container = await rig.launch({
      command: ['sh', '-c', script, 'sh', above],
      mounts: [{ root: gate, subPath: '', kind: 'dir', target: '/gate' }],
    });
    await Promise.race([rig.untilFile('gate/started'), container.seen('ended')]);
    // What root opens while the container runs must not become writable for it.
    for (const name of ['closed', 'open/private']) chmodSync(join(above, name), 0o755);
    await rig.write('gate/go', '');
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('over\n');
    expect(existsSync(join(above, 'closed/deep/inner/written'))).toBe(false);
  });

  it('mounts a volume read-only that holds mounts which the user cannot reach, or which others hide', async () => {
    const { above, mount } = makeHostDirectory(await rig.makeDirectory('closed-volume'));
    for (const name of ['seen', 'closed/inner', 'below/hidden']) mkdirSync(join(above, name), { recursive: true });
    mount('seen', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    writeFileSync(join(above, 'seen/file'), 'seen\n');
    mount('closed/inner', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    mount('below/hidden', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    mount('below', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    chmodSync(join(above, 'closed'), 0o700);
    // Otherwise the engine would make the user the owner of everything in it.
    chownSync(above, idOf('-u'), idOf('-g'));
    const gate = await rig.makeDirectory('volume-gate');
    const script = `echo started >/gate/started; while [ ! -e /gate/go ]; do sleep 0.1; done
cat /v/seen/file; for f in seen closed/inner below; do (echo x >"/v/$f/written") 2>/dev/null && echo "wrote $f"; done; echo over`;
    const container = await rig.launch({
      command: ['sh', '-c', script],
      mounts: [
        { root: gate, subPath: '', kind: 'dir', target: '/gate' },
        { root: above, subPath: '', kind: 'dir', target: '/v', readOnly: true },
      ],
    });
    await Promise.race([rig.untilFile('volume-gate/started'), container.seen('ended')]);
    chmodSync(join(above, 'closed'), 0o755);
    await rig.write('volume-gate/go', '');
    expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await container.text()).toBe('seen\nover\n');
  });

  it('starts where mounts are hidden by others, and still sees the others', async () => {
    const { above, mount } = makeHostDirectory();
    mkdirSync(join(above, 'below/inner'), { recursive: true });
    chmodSync(above, 0o755);
    mount('below/inner', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    mount('below', '-t', 'tmpfs', '-o', 'mode=777', 'tmpfs');
    writeFileSync(join(above, 'below/seen'), 'seen\n');
    const container = await rig.run('cat "$1/below/seen"; (echo x >"$1/below/new") 2>/dev/null; true', {
      args: [above],
    });
    expect(await container.text()).toBe('seen\n');
    expect(existsSync(join(above, 'below/new'))).toBe(false);
  });

  it.each([
    ['mount', 'could not', /mounts in user namespaces/],
    ['unshare', 'could not', /could not set up the container on node n\d: could not/],
  ])('calls it a fault of the node that %s does not work there', async (program, said, reason) => {
    await rig.leave();
    await withProgram(program, `echo '${said}' >&2; exit 1`, async (path) => {
      chmodSync(join(path, '..'), 0o755);
      await rig.start();
      const container = await rig.run('echo never');
      expect(await container.end()).toEqual({ kind: 'fault', reason: expect.stringMatching(reason) });
      await rig.leave();
    });
    await rig.start();
  });

  it('calls a part of a volume that is no directory a fault of the request', async () => {
    const root = await rig.makeDirectory('kinds');
    await rig.write('kinds/file', '');
    const container = await rig.run('true', { mounts: [{ root, subPath: 'file', kind: 'dir', target: '/v' }] });
    expect(await container.end()).toEqual({ kind: 'rejected', reason: expect.stringContaining('not a directory') });
  });
});
