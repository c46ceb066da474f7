import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTerminal, withColor } from '../../src/context/terminal.ts';

function terminal({ tty, env = {} }: { tty: boolean; env?: NodeJS.ProcessEnv }) {
  const stdout = Object.assign(new PassThrough(), { isTTY: tty, columns: 100, rows: 30 });
  const stderr = Object.assign(new PassThrough(), { isTTY: tty });
  const streams = { stdin: { isTTY: tty }, stdout, stderr } as unknown as Parameters<typeof createTerminal>[0];
  return { stdout, stderr, terminal: createTerminal(streams, env) };
}

test.each([
  [{ tty: true }, { live: true, interactive: true, color: true }],
  [{ tty: false }, { live: false, interactive: false, color: false }],
  [
    { tty: true, env: { CI: 'true' } },
    { live: false, interactive: true, color: true },
  ],
  [
    { tty: true, env: { NO_COLOR: '1' } },
    { live: true, color: false },
  ],
  [{ tty: true, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, { color: false }],
  [
    { tty: false, env: { FORCE_COLOR: '1' } },
    { live: false, color: true },
  ],
  [{ tty: true, env: { FORCE_COLOR: '0' } }, { color: false }],
  [
    { tty: true, env: { TERM: 'dumb' } },
    { live: false, interactive: false, color: false },
  ],
])('createTerminal decides for %j', (given, expected) => {
  expect(terminal(given).terminal).toMatchObject(expected);
});

test('Terminal.style colours only where there are colours', () => {
  expect(terminal({ tty: true }).terminal.style('red', 'x')).toBe('\u001b[31mx\u001b[39m');
  expect(terminal({ tty: false }).terminal.style('red', 'x')).toBe('x');
});

test('withColor precedes the terminal and the variables', () => {
  const red = (shown: ReturnType<typeof terminal>['terminal']) => [shown.color, shown.style('red', 'x')];
  const plain = terminal({ tty: true, env: { NO_COLOR: '1' } }).terminal;
  const colored = terminal({ tty: false, env: { FORCE_COLOR: '1' } }).terminal;
  expect(red(withColor(plain, 'always'))).toEqual([true, '\u001b[31mx\u001b[39m']);
  expect(red(withColor(colored, 'never'))).toEqual([false, 'x']);
  for (const choice of ['auto', undefined] as const) {
    expect(withColor(plain, choice)).toBe(plain);
    expect(withColor(colored, choice)).toBe(colored);
  }
});

test('Terminal.out drops what comes after the reader has gone', async () => {
  const { stdout, terminal: t } = terminal({ tty: false });
  t.out('one\n');
  stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
  await new Promise((resolve) => stdout.once('close', resolve));
  t.out('two\n');
  expect(await t.flush()).toBe(false);
  expect(t.fault()).toBeUndefined();
});

test('Terminal.size stands in for a terminal that has none', () => {
  const { stdout, terminal: t } = terminal({ tty: true });
  Object.assign(stdout, { columns: 0, rows: 0 });
  expect(t.size()).toEqual({ columns: 80, rows: 24 });
});

const HOSTILE = 'a\u001b]0;title\u0007b\u001b[2Jc\u009b31md\u202ee\u2066f\u0000g\u007fh\ri\u2028j\u061ck';

test('Terminal.out and err write no control characters except line feeds, tabs and styles; raw writes everything', async () => {
  const { stdout, terminal: shown } = terminal({ tty: true });
  shown.out(`${HOSTILE}\tx\n${shown.style('red', 'y')}`);
  await shown.flush();
  expect(String(stdout.read())).toBe('a]0;titleb[2Jc31mdefghijk\tx\n\u001b[31my\u001b[39m');
  shown.raw(HOSTILE);
  await shown.flush();
  expect(String(stdout.read())).toBe(HOSTILE);
});

test('only the log of a container and the display that is redrawn are written unchanged', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  // The examples of the library print.
  const own = files.filter((name) => !/^(library|run-api)\//.test(name));
  const using = (pattern: RegExp) => own.filter((name) => pattern.test(readFileSync(join(src, name), 'utf8'))).sort();
  expect(using(/terminal\.raw\(/)).toEqual(['commands/logs.ts', 'render/live-progress.ts']);
  expect(using(/console\.(log|info)|process\.stdout\.write/)).toEqual([]);
  expect(using(/process\.stderr\.write/)).toEqual(['context/read-password.ts']);
  // A warning quotes text from outside.
  expect(using(/err\(`warning/)).toEqual(['context/print-warning.ts']);
  // What is printed as JSON crosses `printableJson`.
  expect(using(/(out|err|raw)\([^;]*JSON\.stringify/)).toEqual([]);
});

test('Terminal.err writes each argument on one line, whatever it quotes', async () => {
  const { stderr, terminal: shown } = terminal({ tty: false });
  shown.err('one\n::error::two\r\nthree\n', '', '\u2028four\u0085');
  await shown.flush();
  expect(String(stderr.read())).toBe('one ::error::two three\n\n four\n');
});
