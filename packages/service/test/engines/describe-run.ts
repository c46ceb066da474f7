import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EngineError } from '../../src/engines/engine.ts';
import type { EngineRig } from './engine-rig.ts';
import type { EngineUnderTest } from './engine-under-test.ts';

/** How many containers are started at once, and one after the other; `pnpm soak` starts more. */
const [AT_ONCE, IN_TURN] = process.env.SLUICE_SOAK === 'true' ? [64, 20] : [16, 5];

/** Starting, ending, what the command gets and what is kept of its output. */
export function describeRun(rig: EngineRig, subject: EngineUnderTest): void {
  describe('launch', () => {
    test('reports running, then the end, with times and places', async () => {
      const before = Date.now() - 1000;
      const container = await rig.run('exit 0');
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const types = container.observations
        .map((one) => one.type)
        .filter((type) => type === 'running' || type === 'ended');
      expect(types).toEqual(['running', 'ended']);
      const running = await container.seen('running');
      const ended = await container.seen('ended');
      expect(running.nodeID).not.toBe('');
      expect(running.runID).not.toBe('');
      expect(running.host).not.toBe('');
      expect(running.startedAt).toBeGreaterThan(before);
      expect(ended.endedAt).toBeGreaterThanOrEqual(running.startedAt);
      expect(ended.endedAt).toBeLessThan(Date.now() + 1000);
    });

    test('keeps the exit code', async () => {
      expect(await (await rig.run('exit 7')).end()).toEqual({ kind: 'exited', exitCode: 7 });
      expect(await (await rig.run('exit 255')).end()).toEqual({ kind: 'exited', exitCode: 255 });
    });

    test('gives 128 and the signal for a command that was killed', async () => {
      const end = await (await rig.run('sh -c "kill -9 \\$\\$"; exit $?')).end();
      expect(end).toMatchObject({ kind: 'exited', exitCode: 137 });
      expect(end).not.toHaveProperty('outOfMemory');
    });

    test.each(['no-such-command-here', 'no-such\ncommand', 'no-such\\ncommand'])(
      'says why the command %j that does not exist cannot start',
      async (command) => {
        const container = await rig.prepare({ command: [command, 'x'] });
        const end = await rig.rejection(container);
        if (subject.rejectsMissingCommand)
          expect(end).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('no-such') });
        else expect(end).toMatchObject({ kind: 'exited', exitCode: 127 });
      },
    );

    test('calls an argument that is too long for the kernel no fault of the machine', async () => {
      const container = await rig.prepare({ command: ['echo', 'x'.repeat(131_072)] });
      const end = await rig.rejection(container);
      if (end.kind === 'rejected') expect(end.reason).toContain('too long');
      else expect(end).toMatchObject({ kind: 'exited', exitCode: expect.any(Number) });
      expect(end).not.toMatchObject({ exitCode: 0 });
    });

    test('starts one container for one key, however often it is asked', async () => {
      const volume = await rig.makeDirectory('once');
      const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/once' }];
      const container = await rig.prepare({
        command: ['sh', '-c', 'echo started >> /once/starts; cat /once/go 2>/dev/null; exit 4'],
        mounts,
      });
      await Promise.all([1, 2, 3].map(() => rig.engine.launch(container.launch)));
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 4 });
      await rig.engine.launch(container.launch);
      expect(await rig.read('once/starts')).toBe('started\n');
    });

    test(`runs ${AT_ONCE} at once and mixes up none`, async () => {
      const containers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) => rig.run(`echo number ${index}; exit ${index}`)),
      );
      for (const [index, container] of containers.entries()) {
        expect(await container.end()).toEqual({ kind: 'exited', exitCode: index });
        expect(await container.text()).toBe(`number ${index}\n`);
      }
    });

    test('runs one after the other in quick succession', async () => {
      for (let index = 0; index < IN_TURN; index++) {
        expect(await (await rig.run(`exit ${index}`)).end()).toEqual({ kind: 'exited', exitCode: index });
      }
    });
  });

  describe('command', () => {
    test('gets its arguments byte for byte', async () => {
      const args = [
        '',
        ' ',
        '"',
        "'",
        '\\',
        '$HOME',
        '$(id)',
        '`id`',
        'a\nb',
        '\t\r\u0001\u001b\u007f',
        '--',
        '-n',
        '*',
        'ж🙂\u0301',
        '%s',
        '{}',
        ';',
        '\n',
      ];
      const container = await rig.run('printf "[%s]" "$@"', { args });
      expect(await container.text()).toBe(args.map((arg) => `[${arg}]`).join(''));
    });

    test('gets the environment that was given, PATH, HOME and nothing of the service', async () => {
      process.env.SLUICE_CONTRACT_SECRET = 'secret-of-the-service';
      const env = { GREETING: 'it\'s\n"fine" $HOME ж', EMPTY: '', BAT_PORT_web: '1234' };
      const container = await rig.run(
        'env; echo "<$GREETING>"; test "$EMPTY" = "" && test -n "$PATH" && test -n "$HOME"',
        { env },
      );
      delete process.env.SLUICE_CONTRACT_SECRET;
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      const text = await container.text();
      expect(text).toContain(`<${env.GREETING}>\n`);
      expect(text).toContain('BAT_PORT_web=1234\n');
      expect(text).not.toContain('secret-of-the-service');
    });

    test('gets a large environment whole', async () => {
      const env = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`BIG_${index}`, 'x'.repeat(1000)]));
      const container = await rig.run('env | grep -c "^BIG_[0-9]*=x\\{1000\\}$"', { env });
      expect(await container.text()).toBe('500\n');
    });

    test('may name itself through PATH of the given environment', async () => {
      const volume = await rig.makeDirectory('tools');
      await rig.write('tools/mytool', '#!/bin/sh\necho my tool "$1"\n', 0o755);
      const mounts = [{ root: volume, subPath: '', kind: 'dir' as const, target: '/tools' }];
      const container = await rig.launch({
        command: ['mytool', 'works'],
        env: { PATH: '/tools:/usr/bin:/bin' },
        mounts,
      });
      expect(await container.end()).toEqual({ kind: 'exited', exitCode: 0 });
      expect(await container.text()).toBe('my tool works\n');
    });

    test('reads nothing from standard input and holds no other file', async () => {
      const container = await rig.run('cat; ls /proc/self/fd | tr "\\n" " "');
      // 3 is the directory that ls reads.
      expect(await container.text()).toBe('0 1 2 3 ');
    });
  });

  describe('log', () => {
    test('holds both streams in the order written', async () => {
      const container = await rig.run('i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done');
      const lines = (await container.text()).split('\n').slice(0, -1);
      const wanted = Array.from({ length: 200 }, (_, index) => [`out ${index}`, `err ${index}`]).flat();
      if (subject.ordersStreams) expect(lines).toEqual(wanted);
      for (const stream of ['out', 'err']) {
        expect(lines.filter((line) => line.startsWith(stream))).toEqual(
          wanted.filter((line) => line.startsWith(stream)),
        );
      }
    });

    test.runIf(subject.pipesLog)('holds what is written to /dev/stdout and /dev/stderr by name, in order', async () => {
      const container = await rig.run(
        'echo a; echo b > /dev/stderr; echo c > /dev/stdout; echo d | tee /dev/stderr; exec 1>&-; sleep 0.1; echo e >&2',
      );
      expect(await container.text()).toBe('a\nb\nc\nd\nd\ne\n');
    });

    test.runIf(subject.keepsBytes)('holds any bytes, also without a last newline', async () => {
      const container = await rig.run("printf '\\000\\001\\377\\376\\r\\n\\nlast'");
      expect(await container.log()).toEqual(Buffer.from([0, 1, 255, 254, 13, 10, 10, ...Buffer.from('last')]));
    });

    test('holds 10 MB, complete when the end is reported', async () => {
      const container = await rig.run("head -c 10485760 /dev/zero | tr '\\000' x; echo end");
      const log = await container.log();
      const wanted = Buffer.alloc(10485760 + 4, 'x');
      wanted.write('end\n', 10485760);
      expect(log.length).toBe(wanted.length);
      expect(createHash('sha256').update(log).digest('hex')).toBe(createHash('sha256').update(wanted).digest('hex'));
    });
  });

  if (subject.image === undefined) {
    test('an image is rejected with the way out', async () => {
      const container = await rig.prepare({ command: ['true'], image: 'debian:12' });
      const rejection = await rig.engine.launch(container.launch).catch((error: unknown) => error);
      expect(rejection).toBeInstanceOf(EngineError);
      expect(rejection).toMatchObject({ code: 'REJECTED', message: expect.stringMatching(/debian:12.*docker/s) });
    });
  }
}
