import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogWindow } from '../../src/log/log-window.ts';

const ESCAPE = '\u001b';

/** A log that a container writes. */
let written: string;
/** The last cut of the log. */
let cut: string | undefined;
/** Streams that follow it, from an offset on. */
let followers: { readonly offset: number; readonly controller: ReadableStreamDefaultController<Uint8Array> }[];
/** Requests for numbers of lines that wait for a reply, by their offsets. */
let counted: Map<number, (isLost?: boolean) => void>;
/** Resolves the next time that the log is followed. */
let onFollow: () => void;

beforeEach(() => {
  written = '';
  cut = undefined;
  followers = [];
  counted = new Map();
  onFollow = () => {};
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  vi.stubGlobal('document', { baseURI: 'http://localhost/', hidden: true });
  vi.stubGlobal('fetch', async (url: string, { headers = {} }: { headers?: Record<string, string> }) => {
    const { pathname, searchParams: query } = new URL(url);
    if (pathname.endsWith('/log-line')) return countLines(Number(query.get('offset')));
    if (query.get('follow') === 'true') return follow(Number(query.get('offset')));
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range!)!;
    const bytes = Buffer.from(written);
    const part = bytes.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${part.length === 0 ? '*' : `${from}-${Number(from) + part.length - 1}`}/${bytes.length}`;
    return new Response(part, {
      status: part.length === 0 ? 416 : 206,
      headers: { 'content-range': range, ...cutHeader() },
    });
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function countLines(offset: number): Promise<Response> {
  const line = written.slice(0, offset).split('\n').length;
  return new Promise((resolve, reject) => {
    counted.set(offset, (isLost) => (isLost ? reject(new Error('lost')) : resolve(Response.json({ line }))));
  });
}

function follow(offset: number): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const missed = Buffer.from(written).subarray(offset);
      if (missed.length > 0) controller.enqueue(missed);
      followers.push({ offset, controller });
      onFollow();
    },
  });
  return new Response(body, { headers: cutHeader() });
}

function cutHeader(): Record<string, string> {
  return cut === undefined ? {} : { 'sluice-log-cut': cut };
}

const openLog = () => new LogWindow({ path: 'runs/r/log', step: 's', cell: 0, attempt: 1 });
const followed = () =>
  new Promise<void>((resolve) => {
    onFollow = resolve;
  });
const changed = (log: LogWindow) =>
  new Promise<void>((resolve) => {
    const stop = log.subscribe(() => {
      stop();
      resolve();
    });
  });

test('jump begins at the first line after a byte, and knows the size', async () => {
  written = 'one\ntwo\nthree\n';
  const log = openLog();
  await log.jump(5);
  expect(log.lines).toEqual(['three', '']);
  expect([log.start, log.end, log.total, log.firstLine]).toEqual([8, 14, 14, undefined]);
  await log.jump(4);
  expect(log.lines).toEqual(['two', 'three', '']);
});

test('lines have numbers after a jump as soon as the lines before them are counted', async () => {
  written = 'one\ntwo\nthree\nfour\n';
  const log = openLog();
  await log.jump(5);
  const next = changed(log);
  counted.get(8)!();
  await next;
  expect([log.lines[0], log.firstLine]).toEqual(['three', 3]);
  await log.jump(0);
  expect([log.lines[0], log.firstLine]).toEqual(['one', 1]);
});

test('a count for an earlier jump is ignored', async () => {
  written = 'one\ntwo\nthree\nfour\n';
  const log = openLog();
  await log.jump(5);
  await log.jump(9);
  counted.get(8)!();
  const next = changed(log);
  counted.get(14)!();
  await next;
  expect([log.lines[0], log.firstLine]).toEqual(['four', 4]);
});

test('lines have the right numbers when lines were dropped meanwhile, and after a lost count', async () => {
  written = `${'x'.repeat(99)}\n`.repeat(120_000);
  const log = openLog();
  await log.jump(1_000_000);
  counted.get(1_000_000)!(true);
  counted.clear();
  while (counted.size === 0) await log.extend();
  expect(log.firstLine).toBe(undefined);
  const before = log.lines.length;
  const [[offset, count]] = [...counted] as [[number, () => void]];
  let dropped = 0;
  while (!log.isAtEnd) dropped += await log.extend();
  expect([dropped > 0, log.lines.length > before, counted.size]).toEqual([true, true, 1]);
  const next = changed(log);
  count();
  await next;
  expect(log.firstLine).toBe(Math.floor(offset / 100) + 1 + dropped);
  expect(log.firstLine! + log.lines.length).toBe(120_002);
});

test('colors continue on later lines, also over the parts of a line that are read one after the other', async () => {
  written = `${ESCAPE}[31mred\nstill r`;
  const log = openLog();
  await log.jump(0);
  written += `ed${ESCAPE}[0m\nplain\n`;
  await log.extend();
  expect(log.lines).toEqual([`${ESCAPE}[31mred`, `still red${ESCAPE}[0m`, 'plain', '']);
  expect(log.styles).toEqual(['', `${ESCAPE}[31m`, '', '']);
});

test('find reads on until a line matches', async () => {
  written = `${'x'.repeat(99)}\n`.repeat(30_000);
  written += 'an Error here\n';
  const log = openLog();
  await log.jump(0);
  expect(await log.find(/error/i, 0)).toBe(30_000);
  expect(await log.find(/nothing/, 0)).toBe(-1);
});

test('find reads the text without its colors', async () => {
  written = `terror\n${ESCAPE}[1;31mError${ESCAPE}[0m here\n`;
  const log = openLog();
  await log.jump(0);
  expect(await log.find(/\berror\b/i, 0)).toBe(1);
});

test('follow shows what is written, and misses and repeats nothing after a lost connection', async () => {
  written = 'first\n';
  const log = openLog();
  const stopped = new AbortController();
  let isFollowing = followed();
  const done = log.follow(stopped.signal);
  await isFollowing;
  let next = changed(log);
  written += 'second\n';
  followers[0]!.controller.enqueue(Buffer.from('second\n'));
  await next;
  expect(log.lines).toEqual(['first', 'second', '']);
  isFollowing = followed();
  next = changed(log);
  followers[0]!.controller.error(new Error('the connection is lost'));
  await next;
  expect(log.error).toBe('the connection is lost');
  written += 'third\n';
  await vi.advanceTimersByTimeAsync(1_000);
  await isFollowing;
  expect(followers[1]!.offset).toBe(written.length);
  followers[1]!.controller.close();
  await done;
  expect(log.lines).toEqual(['first', 'second', 'third', '']);
  expect(log.error).toBe(undefined);
});

test('follow ends with its signal', async () => {
  written = 'first\n';
  const log = openLog();
  const stopped = new AbortController();
  const isFollowing = followed();
  const done = log.follow(stopped.signal);
  await isFollowing;
  stopped.abort();
  followers[0]!.controller.error(new DOMException('aborted', 'AbortError'));
  await done;
  expect(log.error).toBe(undefined);
});

test('a log that was cut before its end here, and has grown beyond, begins again at the cut', async () => {
  written = 'one\ntwo\nthree\nfour\n';
  const log = openLog();
  await log.jump(0);
  written = 'one\ntwo\n\n[sluice] left out\nsix\nseven\n';
  cut = '8/6';
  await log.extend();
  expect(log.lines).toEqual(['', '[sluice] left out', 'six', 'seven', '']);
  expect([log.start, log.end, log.isAtEnd]).toEqual([8, written.length, true]);
  await log.extend();
  expect(log.lines).toHaveLength(5);
});

test('behind a cut, lines are counted from it, and have no number until the lines before it are counted', async () => {
  written = 'one\ntwo\nthr\n[sluice] left out\nght\nnine\n';
  cut = '11/6';
  const log = openLog();
  await log.jump(0);
  const places = () => log.lines.slice(0, -1).map((_, index) => log.placeOf(index));
  expect(places()).toEqual(Array(6).fill(undefined));
  const counting = changed(log);
  counted.get(11)!();
  await counting;
  expect(places().map((place) => place?.label)).toEqual(['1', '2', '3', 'cut', '+1', '+2']);
  const { line } = log.placeOf(4)!;
  expect(log.lines[await log.findLine(line)]).toBe('ght');
  // What is before the cut is numbered at once.
  written = `${'x'.repeat(99)}\n`.repeat(20_000);
  cut = '1500000/6';
  const long = openLog();
  await long.jump(0);
  expect([long.placeOf(7)?.label, long.isAtEnd]).toEqual(['8', false]);
});

test('follow tells what a cut has left out while the connection was lost', async () => {
  written = 'one\ntwo\nthree\nfour\n';
  const log = openLog();
  let next = followed();
  const stop = new AbortController();
  const done = log.follow(stop.signal);
  await next;
  next = followed();
  written = 'one\ntwo\n\n[sluice] left out\nsix\nseven\n';
  cut = '8/6';
  followers[0]!.controller.error(new Error('lost'));
  await vi.advanceTimersByTimeAsync(1_000);
  await next;
  expect(log.lines).toEqual(['', '[sluice] left out', 'six', 'seven', '']);
  expect(followers[1]!.offset).toBe(written.length);
  followers[1]!.controller.close();
  await done;
});

test('jumpToEnd ends when the log is closed', async () => {
  written = 'line\n'.repeat(300_000);
  const log = openLog();
  await log.jump(0);
  vi.stubGlobal('fetch', async (_: string, { signal }: { signal: AbortSignal }) => {
    signal.throwIfAborted();
    throw new Error('lost');
  });
  log.close();
  await log.jumpToEnd();
  expect(log.isAtEnd).toBe(false);
});

test('findLine finds a line by its number, and from the end', async () => {
  written = Array.from({ length: 5 }, (_, index) => `line ${index + 1}\n`).join('');
  const log = openLog();
  await log.jump(0);
  expect(log.lines[await log.findLine(4)]).toBe('line 4');
  expect(log.lines[await log.findLine(-1)]).toBe('line 5');
  expect(log.lines[await log.findLine(-5)]).toBe('line 1');
  expect(await log.findLine(-6)).toBe(-1);
  expect(await log.findLine(99)).toBe(-1);
});
