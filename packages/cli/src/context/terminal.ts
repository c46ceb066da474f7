import { styleText } from 'node:util';
import { onOneLine } from '../text/on-one-line.ts';

/** A style name of Node.js, or a list of them. */
export type TextStyle = Parameters<typeof styleText>[0];

/**
 * Where a command writes. Writing never throws: if the reader has closed its end, or a write fails, further output is
 * dropped.
 */
export interface Terminal {
  /** Writes the requested output, without control characters other than line feeds, tabs and those of `style`. */
  out(text: string): void;
  /**
   * Writes errors, warnings and notes, each argument on a line of its own: text from outside in one of them cannot begin
   * another line. Otherwise as `out`.
   */
  err(...lines: readonly string[]): void;
  /** Writes output unchanged: the log of a container as it is, and what moves the cursor. */
  raw(text: string): void;
  /**
   * While `out` is redrawn in place, `listener` receives what is written to `err` on the same screen, without the end of
   * its last line. Undefined: ends this.
   */
  divert(listener: ((text: string) => void) | undefined): void;
  /** Whether `out` is a terminal on which lines can be redrawn. */
  readonly live: boolean;
  /** Whether the user can be prompted. */
  readonly interactive: boolean;
  readonly color: boolean;
  /** Falls back to 80 by 24. */
  size(): { columns: number; rows: number };
  /** Returns the text unchanged if `out` has no colors. */
  style(style: TextStyle, text: string): string;
  /** Resolves when everything written has left the process; false if `out` no longer accepts output. */
  flush(): Promise<boolean>;
  /** Why `out` could not be written, for example on a full disk; undefined if it was, or if its reader closed it. */
  fault(): Error | undefined;
}

interface TerminalStreams {
  readonly stdin: { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** Follows NO_COLOR, FORCE_COLOR, CI and TERM=dumb. Installs error listeners on the streams, once. */
export function createTerminal(streams: TerminalStreams, env: NodeJS.ProcessEnv): Terminal {
  const { stdin, stdout, stderr } = streams;
  const smart = stdout.isTTY === true && env.TERM !== 'dumb';
  const color = env.NO_COLOR ? false : env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : smart;
  const [out, err] = [createWriter(stdout), createWriter(stderr)];
  let diverted: ((text: string) => void) | undefined;
  return {
    out: (text) => out.write(withoutControls(text)),
    err(...lines) {
      const clean = joinLines(lines);
      if (diverted === undefined) err.write(clean);
      else diverted(clean.replace(/\n$/, ''));
    },
    divert(listener) {
      if (stderr.isTTY === true) diverted = listener;
    },
    raw: out.write,
    live: smart && !env.CI,
    interactive: smart && stdin.isTTY === true,
    ...styling(color),
    // Some terminals report a size of 0, for example under `script` and `ssh -tt`.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    flush: async () => {
      await Promise.all([out.flush(), err.flush()]);
      return out.failure() === undefined;
    },
    fault: () => {
      const failure = out.failure();
      return failure !== undefined && READER_GONE.has(failure.code ?? '') ? undefined : failure;
    },
  };
}

/** When `out` has colors: as the terminal and the variables say, or as the user says with `--color`. */
export type ColorChoice = 'auto' | 'always' | 'never';

/** The same terminal with the choice of the user. */
export function withColor(terminal: Terminal, choice: ColorChoice = 'auto'): Terminal {
  return choice === 'auto' ? terminal : { ...terminal, ...styling(choice === 'always') };
}

function styling(color: boolean): Pick<Terminal, 'color' | 'style'> {
  return { color, style: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text) };
}

const STYLE = `${String.fromCharCode(27)}\\[[0-9;]*m`;
const CONTROLS = new RegExp(`(${STYLE})|[^\\n\\t\\P{Cc}]|[\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]`, 'gu');

/** The text of lines as `Terminal.err` writes it. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${withoutControls(onOneLine(line.replace(/\n$/, '')))}\n`).join('');
}

/**
 * A second protection: renderers make text from outside printable, and remove its line feeds. Text that one of them does not
 * clean cannot move the cursor, set titles or hide other text.
 */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, (_, style?: string) => style ?? '');
}

/** EPIPE: `sluice … | head` has read enough. EIO: the terminal was closed; the run continues without it. */
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

interface Writer {
  write(text: string): void;
  flush(): Promise<void>;
  /** The first error of the stream. */
  failure(): NodeJS.ErrnoException | undefined;
}

function createWriter(stream: NodeJS.WriteStream): Writer {
  let failure: NodeJS.ErrnoException | undefined;
  stream.on('error', (error) => {
    failure ??= error;
  });
  return {
    write: (text) => {
      if (failure === undefined && text !== '') stream.write(text);
    },
    flush: () => new Promise((resolve) => (failure ? resolve() : stream.write('', () => resolve()))),
    failure: () => failure,
  };
}
