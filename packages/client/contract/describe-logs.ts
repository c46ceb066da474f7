import { describe, expect, it } from 'vitest';
import { bytes, ended, reach, start } from './rig.ts';
import type { UnderTest } from './service-under-test.ts';

/** Endpoint 10. */
export function describeLogs(open: UnderTest): void {
  describe('logs', () => {
    it('logs: gives exactly the bytes that were written, whatever they mean', async () => {
      const sut = open();
      const text = ['first\n', 'zweite Zeile: grün\r\n', '\u001b[31mred\u001b[0m\t', 'no newline at the end'];
      const ref = await start(open, { output: text, end: 0 });
      await ended(sut, ref);
      expect((await bytes(sut.service.containers.logs(ref))).toString()).toBe(text.join(''));
    });

    it('logs: is empty where nothing was written', async () => {
      const sut = open();
      const ref = await start(open, { end: 0 });
      await ended(sut, ref);
      expect(await bytes(sut.service.containers.logs(ref))).toHaveLength(0);
      expect(await bytes(sut.service.containers.logs(ref, { follow: true }))).toHaveLength(0);
      expect(await bytes(sut.service.containers.logs(ref, { tail: 10 }))).toHaveLength(0);
    });

    it('logs: tail gives the last lines, an unfinished one too, and none for 0', async () => {
      const sut = open();
      const ref = await start(open, { output: ['one\ntwo\nthree\nfour\n', 'five'], end: 0 });
      await ended(sut, ref);
      const tail = async (n: number) => (await bytes(sut.service.containers.logs(ref, { tail: n }))).toString();
      expect(await tail(2)).toBe('four\nfive');
      expect(await tail(1)).toBe('five');
      expect(await tail(0)).toBe('');
      expect(await tail(5)).toBe('one\ntwo\nthree\nfour\nfive');
      expect(await tail(1_000_000)).toBe('one\ntwo\nthree\nfour\nfive');
    });

    it('logs: tail counts a last line that is finished as one', async () => {
      const sut = open();
      const ref = await start(open, { output: ['one\ntwo\n\n'], end: 0 });
      await ended(sut, ref);
      const tail = async (n: number) => (await bytes(sut.service.containers.logs(ref, { tail: n }))).toString();
      expect([await tail(1), await tail(2), await tail(3)]).toEqual(['\n', 'two\n\n', 'one\ntwo\n\n']);
    });

    it('logs: a long line and many bytes come whole', async () => {
      const sut = open();
      const line = `${'0123456789'.repeat(5_000)}\n`;
      const ref = await start(open, { output: [line, line], end: 0 });
      await ended(sut, ref);
      expect((await bytes(sut.service.containers.logs(ref))).toString()).toBe(line + line);
      expect((await bytes(sut.service.containers.logs(ref, { tail: 1 }))).toString()).toBe(line);
    });

    it('logs: follow from the start ends when the container has ended and all is sent', async () => {
      const sut = open();
      const text = ['a\n', 'b\n', 'c\n'];
      const ref = await start(open, { output: text, end: 2 });
      const followed = await bytes(sut.service.containers.logs(ref, { follow: true }));
      expect(followed.toString()).toBe('a\nb\nc\n');
      expect((await ended(sut, ref)).phase).toBe('Failed');
    });

    it('logs: follow gives what is there at once, while the container runs', async () => {
      const sut = open();
      const ref = await start(open, { output: ['ready\n'], end: 'never' });
      await reach(sut, ref, 'Running');
      let seen = '';
      for await (const part of sut.service.containers.logs(ref, { follow: true })) {
        seen += Buffer.from(part).toString();
        if (seen.includes('ready\n')) break;
      }
      expect(seen).toBe('ready\n');
      await sut.service.containers.cancel(ref);
    });

    it('logs: follow with tail begins at the last lines', async () => {
      const sut = open();
      const ref = await start(open, { output: ['one\ntwo\nthree\n'], end: 0 });
      await ended(sut, ref);
      const tailed = await bytes(sut.service.containers.logs(ref, { follow: true, tail: 1 }));
      expect(tailed.toString()).toBe('three\n');
    });

    it('logs: follow ends when the container is canceled', async () => {
      const sut = open();
      const ref = await start(open, { output: ['up\n'], end: 'never' });
      await reach(sut, ref, 'Running');
      const followed = bytes(sut.service.containers.logs(ref, { follow: true }));
      await sut.service.containers.cancel(ref);
      expect((await followed).toString()).toSatisfy((it: string) => 'up\n'.startsWith(it));
      expect((await ended(sut, ref)).phase).toBe('Canceled');
    });

    it('logs: a caller that stops following frees the stream by its signal', async () => {
      const sut = open();
      const ref = await start(open, { output: ['up\n'], end: 'never' });
      await reach(sut, ref, 'Running');
      const stop = new AbortController();
      const read = async () => {
        for await (const _ of sut.service.containers.logs(ref, { follow: true, signal: stop.signal })) stop.abort();
      };
      await expect(read()).rejects.toMatchObject({ code: 'ABORTED' });
      await sut.service.containers.cancel(ref);
    });
  });
}
