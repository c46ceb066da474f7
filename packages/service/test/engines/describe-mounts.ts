import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EngineError, type Mount } from '../../src/engines/engine.ts';
import type { EngineRig, RigContainer } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

function directory(root: string, target: string, subPath = ''): Mount {
  return { root, subPath, kind: 'dir', target };
}

/** Volumes at their mount points, and what else the container sees of the machine. */
export function describeMounts(rig: EngineRig, subject: EngineUnderTest): void {
  describe('mounts', () => {
    test('a volume is read and written in place', async () => {
      const volume = await rig.makeDirectory('whole');
      await rig.write('whole/in', 'from outside\n');
      const container = await rig.run('cat /data/in && echo from inside > /data/out', {
        mounts: [directory(volume, '/data')],
      });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await container.text()).toBe('from outside\n');
      expect(await rig.read('whole/out')).toBe('from inside\n');
    });

    test('a part of a volume, directory or file, is all that is seen of it', async () => {
      const volume = await rig.makeDirectory('part');
      await rig.makeDirectory('part/deep/er');
      await rig.write('part/deep/er/file', 'inner\n');
      await rig.write('part/secret', 'outer\n');
      const mounts: Mount[] = [
        directory(volume, '/er', 'deep/er'),
        { root: volume, subPath: 'deep/er/file', kind: 'file', target: '/srv/here/renamed.txt' },
      ];
      const container = await rig.run('ls /er /er/..; cat /srv/here/renamed.txt; echo more >> /srv/here/renamed.txt', {
        mounts,
      });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await container.text()).not.toContain('secret');
      expect(await rig.read('part/deep/er/file')).toBe('inner\nmore\n');
    });

    test.skipIf(subject.rewritesPaths)(
      'mount points are made where they are missing, also beneath directories of the image and in /tmp',
      async () => {
        const volume = await rig.makeDirectory('points');
        await rig.write('points/f', 'x');
        const targets = ['/new/deep/er', '/srv/below', '/etc/below', '/opt/a/b/c', '/tmp/t', '/new', '/with space/ж'];
        const container = await rig.run(`for t in "$@"; do cat "$t/f" && echo " $t"; done; ls /etc/passwd`, {
          mounts: targets.map((target) => directory(volume, target)),
          args: targets.filter((target) => target !== '/new'),
        });
        expect(await container.text()).toBe(
          `${targets
            .filter((target) => target !== '/new')
            .map((target) => `x ${target}\n`)
            .join('')}/etc/passwd\n`,
        );
      },
    );

    test.skipIf(subject.rewritesPaths)('one volume lies in another', async () => {
      const outer = await rig.makeDirectory('outer');
      const inner = await rig.makeDirectory('inner');
      await rig.write('inner/f', 'inner\n');
      const mounts = [directory(inner, '/outer/inner'), directory(outer, '/outer')];
      const container = await rig.run('cat /outer/inner/f; echo x > /outer/inner/g; echo y > /outer/h', { mounts });
      expect(await container.text()).toBe('inner\n');
      expect(await rig.read('inner/g')).toBe('x\n');
      expect(await rig.read('outer/h')).toBe('y\n');
    });

    const counts = [1100, subject.mounts].filter((count, index) => index === 1 || count < subject.mounts);
    test.skipIf(subject.rewritesPaths).each(counts)(
      '%i of them, in each other and beside each other, files among them',
      async (count) => {
        const volume = await rig.makeDirectory(`many-${count}`);
        const mounts: Mount[] = [directory(volume, '/in/all')];
        for (let index = 1; index < count; index += 1) {
          await rig.write(`many-${count}/f${index}`, `${index}\n`);
          const target = index % 2 === 0 ? `/in/fan/${index}` : `/in/all/f${index}`;
          mounts.push({ root: volume, subPath: `f${index}`, kind: 'file', target, readOnly: index % 3 === 0 });
        }
        const container = await rig.run(
          `cat /in/fan/* | wc -l; cat /in/all/* | wc -l; for n in 2 4 6 8; do (echo x >>/in/fan/$n) 2>/dev/null || echo "no $n"; done`,
          // On a quiet machine, 1,100 of them take 15 s on Slurm, where each needs several programs.
          { mounts, patienceMs: 500_000 },
        );
        const kept = rig.engine.features.includes('read-only-mounts') ? 'no 6\n' : '';
        expect(await container.text()).toBe(`${Math.ceil(count / 2) - 1}\n${count - 1}\n${kept}`);
      },
      600_000,
    );

    test('a link that stays in the volume is followed, one that leads out is rejected', async () => {
      const volume = await rig.makeDirectory('links');
      const outside = await rig.makeDirectory('outside');
      await rig.makeDirectory('links/run-5');
      await rig.write('links/run-5/f', 'five\n');
      await rig.write('outside/f', 'secret\n');
      await symlink('run-5', join(volume, 'latest'));
      await symlink(outside, join(volume, 'absolute'));
      await symlink('../outside', join(volume, 'relative'));
      const inside = await rig.run('cat /data/f', { mounts: [directory(volume, '/data', 'latest')] });
      expect(await inside.text()).toBe('five\n');
      for (const subPath of ['absolute', 'relative', 'run-5/../../outside', '..']) {
        const hostile = await rig.prepare({
          command: ['cat', '/data/f'],
          mounts: [directory(volume, '/data', subPath)],
        });
        expect(await rig.rejection(hostile), subPath).toMatchObject({ kind: 'rejected' });
      }
    });

    test.runIf(subject.holdsSwappedLinks)('a link swapped during the start does not lead out', async () => {
      const volume = await rig.makeDirectory('swapped');
      await rig.makeDirectory('swapped-outside');
      await rig.write('swapped-outside/f', 'secret\n');
      await rig.makeDirectory('swapped/good');
      await rig.write('swapped/good/f', 'good\n');
      await symlink('../swapped-outside', join(volume, 'evil'));
      let isOver = false;
      const swapping = (async () => {
        while (!isOver) {
          for (const [from, to] of [
            ['good', 'aside'],
            ['evil', 'good'],
            ['good', 'evil'],
            ['aside', 'good'],
          ] as const) {
            await rename(join(volume, from), join(volume, to));
          }
        }
      })();
      const containers = await Promise.all(
        Array.from({ length: 12 }, () =>
          rig.prepare({ command: ['cat', '/data/f'], mounts: [directory(volume, '/data', 'good')] }),
        ),
      );
      // A daemon may find nothing at the path for a moment, and calls that temporary: the service starts it again later.
      const isTemporary = (error: unknown) => error instanceof EngineError && error.code === 'UNAVAILABLE';
      const endOf = (container: RigContainer) =>
        rig.rejection(container).catch((error: unknown) => {
          if (isTemporary(error)) return { kind: 'postponed' } as const;
          throw error;
        });
      const ends = await Promise.all(containers.map(endOf)).finally(() => {
        isOver = true;
        return swapping;
      });
      for (const [index, container] of containers.entries()) {
        expect(await container.text().catch(() => '')).not.toContain('secret');
        expect(['rejected', 'exited', 'postponed']).toContain(ends[index]?.kind);
      }
    });
  });

  describe('file system', () => {
    test('a private directory to work in', async () => {
      const one = await rig.run('pwd; echo mine > here && cat here && ls -a');
      expect(await one.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const look = subject.sharesMachine ? '' : ' && ls /dev/shm';
      const other = await rig.run(`ls -A /tmp; echo x > /tmp/left && test ! -e here${look}`);
      expect(await other.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await other.text()).toBe('');
    });

    test.runIf(subject.hostRoot)('the root is read-only and another container is not seen', async () => {
      const container = await rig.run(
        'touch /etc/x 2>/dev/null && echo written; touch /new 2>/dev/null && echo written; ls /proc | grep -c "^[0-9]*$"',
      );
      expect(Number(await container.text())).toBeLessThan(8);
    });

    test.runIf(subject.hostRoot && isRoot)('what is mounted on the host is read-only too, at any depth', async () => {
      // Not beneath /tmp, of which each container has its own.
      const directory = await mkdtemp('/var/tmp/sluice-host-');
      const mounted = join(directory, 'with space/mounted');
      await mkdir(mounted, { recursive: true });
      await run('mount', ['-t', 'tmpfs', '-o', 'mode=777', 'tmpfs', mounted]);
      onTestFinished(async () => {
        await run('umount', ['-l', mounted]);
        await rm(directory, { recursive: true });
      });
      await writeFile(join(mounted, 'f'), 'safe\n', { mode: 0o666 });
      // What is mounted before a service starts all engines see; what comes later depends on the machine.
      await rig.leave();
      await rig.start();
      const container = await rig.run(
        'for f in "$1/f" "$1/new"; do (echo x >>"$f") 2>/dev/null && echo written; done; mount -o remount,rw "$1" 2>/dev/null; (echo x >>"$1/f") 2>/dev/null; cat "$1/f"',
        { args: [mounted] },
      );
      expect(await container.text()).not.toContain('written');
      expect(await readFile(join(mounted, 'f'), 'utf8')).toBe('safe\n');
      expect(await readdir(mounted)).toEqual(['f']);
    });

    test.runIf(subject.hostRoot)('nothing of the service or of other volumes is found', async () => {
      const volume = await rig.makeDirectory('own');
      await rig.makeDirectory('foreign');
      const container = await rig.run(`ls ${rig.directory} 2>&1 | grep -c foreign`, {
        mounts: [directory(volume, '/own')],
      });
      expect(await container.text()).toBe('0\n');
    });

    test.runIf(subject.hidesInit)('nothing of what the first process holds is found', async () => {
      const container = await rig.run('ls /proc/1/fd/ -l 2>&1 | grep -c -e "->"');
      expect(await container.text()).toBe('0\n');
    });
  });
}
