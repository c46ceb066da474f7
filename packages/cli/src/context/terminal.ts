import { styleText } from 'node:util';

export type TextStyle = Parameters<typeof styleText>[0];

/** Where a command writes. Writing never throws: if the reader has closed its end, or writing fails, the rest is dropped. */
export interface Terminal {
  /** What was asked for. */
  out(text: string): void;
  /** What went wrong, and what else is not the answer itself. */
  err(text: string): void;
  /** Whether `out` is a terminal where lines may be drawn again. */
  readonly live: boolean;
  /** Whether people can type an answer. */
  readonly interactive: boolean;
  readonly color: boolean;
  size(): { columns: number; rows: number };
  /** The text in that style if `out` has colors. */
  style(style: TextStyle, text: string): string;
  /** Resolves when everything written has left the process; false where `out` takes nothing any more. */
  flush(): Promise<boolean>;
  /** Why `out` could not be written, as on a full disk; undefined where it was, or its reader has gone. */
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
  return {
    out: out.write,
    err: err.write,
    live: smart && !env.CI,
    interactive: smart && stdin.isTTY === true,
    color,
    // A terminal without a size reports 0, as under `script` and `ssh -tt` without a terminal of their own.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    style: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text),
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

/** EPIPE: `sluice … | head` has read enough. EIO: the terminal was closed and the run continues without it. */
const READER_GONE: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

interface Writer {
  write(text: string): void;
  flush(): Promise<void>;
  /** What ended the stream. */
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
