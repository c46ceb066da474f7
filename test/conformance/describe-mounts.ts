import { describe, expect, it } from 'vitest';
import { clause } from './clause-test.ts';
import { ENDS, makeVolume, NORTH, type Rig, reach, start } from './conformance-rig.ts';

export function describeMounts(rig: Rig): void {
  describe('volume mounts', () => {
    /** Runs a script with mounts and gives the log; fails unless it succeeds. */
    const run = async (script: string, volumeMounts: Record<string, string>) => {
      const { path } = await start(rig(), script, { volumeMounts });
      const ended = await reach(rig(), path, ...ENDS);
      const log = (await rig().call('GET', `${path}/logs`)).text;
      expect(ended.phase, `${String(ended.state)}: ${log}`).toBe('Succeeded');
      return log;
    };

    clause(
      ['Container > <volumeID>', 'Container > #8', '3. Create a volume > #5', 'What the service does > #2'],
      'a whole volume carries files from one container to the next',
      async () => {
        const { id } = await makeVolume(rig());
        await run('mkdir /mnt/v/d && echo one > /mnt/v/d/f', { [id]: '/mnt/v' });
        expect(await run('cat /data/d/f', { [id]: '/data' })).toBe('one\n');
      },
    );

    clause(
      ['Container > <volumeID>:<subPath>'],
      'a subdirectory or a file of a volume is all that is seen of it',
      async () => {
        const { id } = await makeVolume(rig());
        await run('mkdir -p /v/a/b && echo deep > /v/a/b/f && echo top > /v/secret', { [id]: '/v' });
        expect(await run('cat /in/f; ls /in /in/..', { [`${id}:a/b`]: '/in' })).not.toContain('secret');
        expect(await run('cat /in/f', { [`${id}:a/b`]: '/in' })).toBe('deep\n');
        expect(await run('cat /in', { [`${id}:a/b/f`]: '/in' })).toBe('deep\n');
      },
    );

    clause(
      ['Container > <volumeID>:<subPath>:<opt>'],
      'dir and file make what is not there and keep what is',
      async () => {
        const { id } = await makeVolume(rig());
        const mounts = { [`${id}:new/dir:dir`]: '/d', [`${id}:new/file:file`]: '/f' };
        await run('test -d /d && test -f /f && echo x > /d/x && echo y > /f', mounts);
        expect(await run('cat /d/x /f', mounts)).toBe('x\ny\n');
        expect(await run('cd /v && find . | sort', { [id]: '/v' })).toBe(
          '.\n./new\n./new/dir\n./new/dir/x\n./new/file\n',
        );
      },
    );

    clause(['Container > #9'], 'a file may be mounted under any file name', async () => {
      const { id } = await makeVolume(rig());
      await run('echo settings > /v/original.json', { [id]: '/v' });
      expect(await run('cat /mnt/quite-another.txt', { [`${id}:original.json`]: '/mnt/quite-another.txt' })).toBe(
        'settings\n',
      );
    });

    it('extension: the label sluice-writable-mounts makes all other mounts read-only, where that is announced', async ({
      skip,
    }) => {
      const { instanceTypes } = (await rig().call('GET', 'clusters/north/instanceTypes')).json() as {
        instanceTypes: { features?: string[] }[];
      };
      const announced = instanceTypes.every(({ features }) => features?.includes('read-only-mounts'));
      if (!announced) return skip('the engine has no read-only mounts');
      const { id } = await makeVolume(rig());
      await run('echo kept > /v/f', { [id]: '/v' });
      const { path } = await start(rig(), '(echo x >> /in/f) 2>/dev/null || echo rejected; echo y > /out/f', {
        volumeMounts: { [id]: '/in', [`${id}:out:dir`]: '/out' },
        labels: { 'sluice-writable-mounts': '["/out"]' },
      });
      expect((await reach(rig(), path, ...ENDS)).phase).toBe('Succeeded');
      expect((await rig().call('GET', `${path}/logs`)).text).toBe('rejected\n');
      expect(await run('cat /v/f /v/out/f', { [id]: '/v' })).toBe('kept\ny\n');
    });

    clause(
      ['Container > #8', 'Container > <volumeID>:<subPath>:<opt>'],
      'mounts that leave the volume or its syntax are rejected',
      async () => {
        const { id } = await makeVolume(rig());
        for (const [key, target] of [
          [`${id}:../x`, '/v'],
          [`${id}:a/../../x:dir`, '/v'],
          [`${id}:/etc`, '/v'],
          [`${id}:a:socket`, '/v'],
          [`${id}:a:dir:more`, '/v'],
          ['Not-An-Id', '/v'],
          [id, 'relative'],
          [id, '/a/../../b'],
        ] as const) {
          const body = { instanceType: 'n-small', command: ['true'], volumeMounts: { [key]: target } };
          const answer = await rig().call('POST', `${NORTH}/containers`, { body });
          expect([answer.status, answer.json().code], `${key} at ${target}`).toEqual([400, 400]);
        }
      },
    );

    clause(['Container > <volumeID>:<subPath>'], 'a subPath does not leave the volume through a symlink', async () => {
      const { id } = await makeVolume(rig());
      await run('ln -s /etc /v/out && ln -s ../../.. /v/up', { [id]: '/v' });
      for (const subPath of ['out', 'up', 'out/passwd', 'up/made:dir']) {
        const body = { instanceType: 'n-small', command: ['ls', '/in'], volumeMounts: { [`${id}:${subPath}`]: '/in' } };
        const answer = await rig().call('POST', `${NORTH}/containers`, { body });
        if (answer.status !== 200) expect(answer.status, subPath).toBe(400);
        else {
          const ended = await reach(rig(), `${NORTH}/containers/${String(answer.json().id)}`, ...ENDS);
          expect(ended.phase, subPath).not.toBe('Succeeded');
        }
      }
    });
  });
}
