import type { CommandContext } from '../src/context/command-context.ts';
import { joinLines, type Terminal } from '../src/context/terminal.ts';

/** A terminal that keeps what was written. */
export interface RecordingTerminal extends Terminal {
  written(): { out: string; err: string };
}

export function createRecordingTerminal(options: { live?: boolean; interactive?: boolean } = {}): RecordingTerminal {
  const written = { out: '', err: '' };
  return {
    out: (text) => {
      written.out += text;
    },
    err: (...lines) => {
      written.err += joinLines(lines);
    },
    raw: (text) => {
      written.out += text;
    },
    divert: () => {},
    live: options.live ?? false,
    interactive: options.interactive ?? false,
    color: false,
    size: () => ({ columns: 80, rows: 24 }),
    style: (_style, text) => text,
    flush: async () => true,
    fault: () => undefined,
    written: () => ({ ...written }),
  };
}

/** A context whose signals the test sends itself; exiting throws `left with <exit code>`. */
export interface TestContext extends CommandContext {
  readonly terminal: RecordingTerminal;
  send(signal: NodeJS.Signals): void;
}

export function createTestContext(given: { cwd: string; env?: NodeJS.ProcessEnv; interactive?: boolean }): TestContext {
  const listeners = new Map<NodeJS.Signals, Set<() => void>>();
  return {
    terminal: createRecordingTerminal({ interactive: given.interactive ?? false }),
    env: given.env ?? {},
    cwd: given.cwd,
    onSignal: (signal, listener) => {
      const all = listeners.get(signal) ?? new Set();
      listeners.set(signal, all.add(listener));
      return () => all.delete(listener);
    },
    exit: (exitCode) => {
      throw new Error(`left with ${exitCode}`);
    },
    send: (signal) => {
      for (const listener of listeners.get(signal) ?? []) listener();
    },
  };
}
