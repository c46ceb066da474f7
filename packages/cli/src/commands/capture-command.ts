import type { CommandContext } from '../context/command-context.ts';
import { joinLines } from '../context/terminal.ts';

/** A context for a command whose output is a reply, and what the command has written to it. */
export interface CapturedOutput {
  readonly context: CommandContext;
  /** Output and errors in their order. */
  text(): string;
}

/** Captures the output of one command as plain text: all of it, or only the last `most` characters. */
export function captureCommand(context: CommandContext, most = Number.POSITIVE_INFINITY): CapturedOutput {
  let texts: string[] = [];
  let size = 0;
  const write = (text: string) => {
    texts.push(text);
    size += text.length;
    if (size <= 2 * most) return;
    texts = [texts.join('').slice(-most)];
    size = most;
  };
  const terminal: CommandContext['terminal'] = {
    ...{ out: write, raw: write, live: false, interactive: false, color: false },
    err: (...lines) => write(joinLines(lines)),
    divert: () => {},
    size: () => ({ columns: 120, rows: 24 }),
    style: (_, text) => text,
    flush: async () => true,
    fault: () => undefined,
  };
  return {
    // Annotations are for the log of a job, which this output is not.
    context: { ...context, terminal, env: { ...context.env, GITHUB_ACTIONS: '' } },
    text: () => texts.join('').slice(-most),
  };
}
