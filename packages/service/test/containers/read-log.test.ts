import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogNotifier } from '../../src/containers/log-notifier.ts';
import { type LogOptions, type LogWriter, readLog } from '../../src/containers/read-log.ts';
import { limitLog } from '../../src/engines/limit-log.ts';
import { LOCAL_STORAGE } from '../../src/storage/storage-access.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-log-'));
  path = join(directory, 'log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function text(options: LogOptions, writer?: LogWriter): Promise<string> {
  const blocks: Uint8Array[] = [];
  for await (const block of readLog({ path, access: LOCAL_STORAGE }, options, writer)) blocks.push(block);
  return Buffer.concat(blocks).toString('latin1');
}

/** A container that lives until the test ends it. */
function createWriter(): LogWriter & { end(): void } {
  const listeners = new Set<() => void>();
  let live = true;
  return {
    notifier: new LogNotifier(LOCAL_STORAGE.fault),
    isLive: () => live,
    onEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end() {
      live = false;
      for (const listener of listeners) listener();
    },
  };
}

describe('readLog', () => {
  it('yields a part, and from a byte on what follows', async () => {
    writeFileSync(path, '0123456789');
    expect(await text({ start: 3, end: 7 })).toBe('3456');
    expect(await text({ start: 8, end: 70 })).toBe('89');
    expect(await text({ start: 20 })).toBe('');
    const writer = createWriter();
    expect(await text({ start: 0, end: 2, follow: true }, writer)).toBe('01');
    const followed = text({ start: 8, follow: true }, writer);
    appendFileSync(path, 'abc');
    writer.end();
    expect(await followed).toBe('89abc');
  });

  it('yields nothing if nothing was written', async () => {
    expect(await text({})).toBe('');
    expect(await text({ tail: 3 })).toBe('');
  });

  it('tail yields the last lines, with or without a newline at the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('', 'a', 'bb', 'x'.repeat(70_000)), { maxLength: 8 }),
        fc.boolean(),
        fc.nat({ max: 10 }),
        async (lines, closed, tail) => {
          const whole = lines.join('\n') + (closed && lines.length > 0 ? '\n' : '');
          writeFileSync(path, whole);
          const parts = whole.split(/(?<=\n)/);
          expect(await text({ tail })).toBe(tail === 0 ? '' : parts.slice(-tail).join(''));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('follow yields new bytes, and ends with the container', async () => {
    const writer = createWriter();
    writeFileSync(path, 'one\n');
    const log = readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer);
    const next = async () => Buffer.from(((await log.next()).value as Uint8Array | undefined) ?? []).toString();
    expect(await next()).toBe('one\n');
    appendFileSync(path, 'two\n');
    expect(await next()).toBe('two\n');
    const last = next();
    appendFileSync(path, 'three\n');
    writer.end();
    expect(await last).toBe('three\n');
    expect((await log.next()).done).toBe(true);
  });

  it('follow waits for a log that does not exist yet', async () => {
    const writer = createWriter();
    const all = text({ follow: true, tail: 5 }, writer);
    writeFileSync(path, 'late\n');
    writer.end();
    expect(await all).toBe('late\n');
  });

  it('tail of a log of 10 GB reads only its end', async () => {
    const file = openSync(path, 'w');
    ftruncateSync(file, 10_000_000_000);
    writeSync(file, 'a\nb\nc\n', 10_000_000_000);
    closeSync(file);
    expect(await text({ tail: 2 })).toBe('b\nc\n');
  });

  it('a stalled reader uses one block, and a thousand followers of a silent log use little memory', async () => {
    const file = openSync(path, 'w');
    ftruncateSync(file, 1_000_000_000);
    closeSync(file);
    const writer = createWriter();
    const before = process.memoryUsage().rss;
    const slow = Array.from({ length: 50 }, () => readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer));
    await Promise.all(slow.map((log) => log.next()));
    const silent = Array.from({ length: 1000 }, () => text({ follow: true, tail: 0 }, writer));
    await Promise.all(slow.map((log) => log.next()));
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    await Promise.all(slow.map((log) => log.return(undefined)));
    writer.end();
    expect((await Promise.all(silent)).join('')).toBe('');
  });
});

describe('readLog of a log that is cut to its limit', () => {
  const LIMIT = 1000;
  /** Of a log of 1,200 bytes, of which 500 and 250 are kept. */
  const CUT = `\n[sluice] the log has reached its limit of ${LIMIT} bytes; 450 bytes were left out here\n`;
  let count = 0;
  beforeEach(() => {
    count = 0;
  });
  /** Ten bytes each. */
  const append = (lines: number) => {
    for (let line = 0; line < lines; line++) appendFileSync(path, `${String(count++).padStart(9, '0')}\n`);
  };
  const read = async (log: AsyncGenerator<Uint8Array>) =>
    Buffer.from(((await log.next()).value as Uint8Array | undefined) ?? []).toString();
  const rest = async (log: AsyncGenerator<Uint8Array>) => {
    let all = '';
    for await (const block of log) all += Buffer.from(block).toString();
    return all;
  };

  it('tells a follower beyond the cut what was left out, and continues with the end', async () => {
    const writer = createWriter();
    append(90);
    const log = readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer);
    expect(await read(log)).toHaveLength(900);
    append(30);
    await limitLog(path, LIMIT);
    writer.end();
    expect(await rest(log)).toBe(CUT + readFileSync(path, 'utf8').slice(LIMIT / 2 + CUT.length));
    expect(readFileSync(path, 'utf8')).toMatch(/000000119\n$/);
  });

  it('tells it so even if the log has grown beyond it again', async () => {
    const writer = createWriter();
    append(90);
    const log = readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer);
    await read(log);
    append(30);
    await limitLog(path, LIMIT);
    append(20);
    writer.end();
    expect(await rest(log)).toBe(readFileSync(path, 'utf8').slice(LIMIT / 2));
  });

  it('wakes a follower that waits', async () => {
    const writer = createWriter();
    append(120);
    const log = readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer);
    await read(log);
    const next = read(log);
    await limitLog(path, LIMIT);
    expect(await next).toBe(readFileSync(path, 'utf8').slice(LIMIT / 2));
    writer.end();
    expect(await rest(log)).toBe('');
  });

  it('yields the line to a reader that does not follow', async () => {
    append(7_000);
    const log = readLog({ path, access: LOCAL_STORAGE }, {});
    expect(await read(log)).toHaveLength(65_536);
    await limitLog(path, LIMIT);
    expect(await rest(log)).toBe(readFileSync(path, 'utf8').slice(LIMIT / 2));
  });

  const action = fc.constantFrom('append' as const, 'read' as const, 'cut' as const, 'start cut' as const);
  it('never leaves out a line without saying so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        rmSync(path, { force: true });
        count = 0;
        append(1);
        const writer = createWriter();
        const log = readLog({ path, access: LOCAL_STORAGE }, { follow: true }, writer);
        let text = '';
        const cuts: Promise<void>[] = [];
        for (const one of actions) {
          if (one === 'append') append(17);
          else if (one === 'cut') await limitLog(path, LIMIT);
          else if (one === 'start cut') cuts.push(limitLog(path, LIMIT));
          else if (text.length < readFileSync(path).length) text += await read(log);
        }
        await Promise.all(cuts);
        await limitLog(path, LIMIT);
        writer.end();
        text += await rest(log);
        // Between two lines that do not follow each other, the log says that something was left out.
        let last = -1;
        for (const [line] of text.matchAll(/^.*(?:limit|\d{9})/gm)) {
          if (line.startsWith('[sluice]')) last = Number.NaN;
          else if (Number.isNaN(last)) last = Number(line.slice(-9));
          else expect(Number(line.slice(-9))).toBe(++last);
        }
        expect(text.endsWith(readFileSync(path, 'utf8').slice(-100))).toBe(true);
      }),
      { numRuns: process.env.SLUICE_SOAK === 'true' ? 300 : 60 },
    );
  });
});
