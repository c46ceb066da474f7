import { styleText } from 'node:util';

export type TextStyle = Parameters<typeof styleText>[0];

/** Where a command writes. Writing never throws: when the reader has gone away, the rest is dropped. */
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
  /** The text in that style where `out` has colours. */
  style(style: TextStyle, text: string): string;
  /** Resolves when everything written has left the process, or the reader has gone. */
  flush(): Promise<void>;
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
  const writers = [createWriter(stdout), createWriter(stderr)] as const;
  return {
    out: writers[0].write,
    err: writers[1].write,
    live: smart && !env.CI,
    interactive: smart && stdin.isTTY === true,
    color,
    // A terminal that nobody has given a size says 0, as under `script` and `ssh -tt` without a terminal of their own.
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    style: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text),
    flush: async () => {
      await Promise.all(writers.map((writer) => writer.flush()));
    },
  };
}

function createWriter(stream: NodeJS.WriteStream): { write: (text: string) => void; flush: () => Promise<void> } {
  let gone = false;
  // EPIPE: `sluice … | head` has seen enough. EIO: the terminal was closed and the run goes on without it.
  stream.on('error', () => {
    gone = true;
  });
  return {
    write: (text) => {
      if (!gone && text !== '') stream.write(text);
    },
    flush: () => new Promise((resolve) => (gone ? resolve() : stream.write('', () => resolve()))),
  };
}
