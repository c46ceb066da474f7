import { execFile } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { EngineRig } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

const run = promisify(execFile);

/** An owner that no machine of the tests has. */
const OTHER = 54_321;

interface Use {
  readonly program: string;
  /** Prints `done` if the program did its work; files of `OTHER` are in `/data`, where that is possible. */
  readonly script: string;
}

/** What ordinary programs do with users. Those that an image lacks are skipped. */
const USES: readonly Use[] = [
  { program: 'tar', script: 'cd /tmp && tar -xf /data/archive.tar && cat /tmp/f' },
  { program: 'cp', script: 'cp -aL /bin/sh /tmp/sh && cp -a /data/f /tmp/copied && cat /tmp/copied' },
  {
    program: 'git',
    script:
      'git init -q /tmp/git && cd /tmp/git && git -c user.name=a -c user.email=a@b commit -qm x --allow-empty && echo done',
  },
  { program: 'ssh-keygen', script: 'ssh-keygen -q -t ed25519 -N "" -f /tmp/key && echo done' },
  { program: 'whoami', script: '[ "$(whoami)" = "$(id -un)" ] && echo done' },
  {
    program: 'mpirun',
    // Two processes also on a machine with one core; Open MPI rejects root otherwise.
    script: `export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -n 2 sh -c 'echo done >/tmp/rank$OMPI_COMM_WORLD_RANK' && cat /tmp/rank1`,
  },
  {
    program: 'python3',
    script: `python3 -c 'import os, pwd; print("done" if pwd.getpwuid(os.getuid()).pw_uid == os.getuid() else "other")'`,
  },
];

/** The user that a command sees: the image's, or that of the service or the account. */
export function describeIdentity(rig: EngineRig, subject: Pick<EngineUnderTest, 'image' | 'owner'>): void {
  const own = subject.owner ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const { uid, gid } = subject.image === undefined ? own : { uid: 0, gid: 0 };

  describe('identity', () => {
    test('a command sees the real user, who owns what it makes', async () => {
      const container = await rig.run('id -u; id -g; : >/tmp/f; stat -c "%u %g" /tmp/f');
      expect(await container.text()).toBe(`${uid}\n${gid}\n${uid} ${gid}\n`);
    });

    test('only root may give a file away', async () => {
      const isOther = uid === 0 && (subject.image !== undefined || (await canGiveAway(rig)));
      const container = await rig.run(': >/tmp/f; chown "$1" /tmp/f 2>/dev/null; stat -c %u /tmp/f', {
        args: [String(OTHER)],
      });
      expect(await container.text()).toBe(isOther ? `${OTHER}\n` : `${uid}\n`);
    });

    test.for(USES)('$program works with files of other owners', async ({ program, script }, { skip }) => {
      const volume = await makeArchive(rig, `identity-${program}`);
      // In a user namespace of an image, an ordinary user has no number for other owners.
      const mayBeForeign = (subject.image === undefined || own.uid === 0) && (await canGiveAway(rig));
      if (mayBeForeign) await chown(join(volume, 'f'), OTHER, OTHER);
      const isPowerless = uid === 0 && subject.image === undefined && !mayBeForeign;
      if (isPowerless && (program === 'tar' || program === 'cp'))
        skip('as root it keeps owners, which root of this namespace cannot');
      const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/data' }];
      const guarded = `command -v ${program} >/dev/null || { echo missing; exit; }\n${script}`;
      const container = await rig.run(guarded, { mounts });
      const text = await container.text();
      if (text === 'missing\n') skip('the image has no such program');
      expect(text).toBe('done\n');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
    });
  });
}

/** Whether this process can give a file to another user. Root cannot in a user namespace that has no other users. */
async function canGiveAway(rig: EngineRig): Promise<boolean> {
  const directory = await rig.makeDirectory('given');
  return chown(directory, OTHER, OTHER).then(
    () => true,
    () => false,
  );
}

/** A volume with the file `f`, and `archive.tar` that holds it as of `OTHER`. */
async function makeArchive(rig: EngineRig, name: string): Promise<string> {
  const volume = await rig.makeDirectory(name);
  await rig.write(`${name}/f`, 'done\n', 0o644);
  await run('tar', ['-C', volume, `--owner=${OTHER}`, `--group=${OTHER}`, '-cf', join(volume, 'archive.tar'), 'f']);
  return volume;
}
