import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandContext } from './command-context.ts';

/**
 * Reads a password from SLUICE_PASSWORD, else from the keyboard without echo, else the first line of stdin. Never from
 * an argument, which every user of the machine could read. Throws if it is empty.
 */
export async function readPassword(context: CommandContext): Promise<string> {
  const isTyped = context.terminal.interactive;
  const password = context.env.SLUICE_PASSWORD || (await (isTyped ? ask('Password: ', context) : readLine()));
  if (password !== '') return password;
  throw new Error('could not use the password: it is empty; pass one on standard input or in SLUICE_PASSWORD');
}

/** Reads an e-mail address from SLUICE_EMAIL, else from the keyboard; `''` if there is neither. */
export async function readEmail(context: CommandContext): Promise<string> {
  if (context.env.SLUICE_EMAIL) return context.env.SLUICE_EMAIL;
  return context.terminal.interactive ? (await ask('E-mail: ', { ...context, isShown: true })).trim() : '';
}

async function ask(
  question: string,
  { terminal, isShown = false }: Pick<CommandContext, 'terminal'> & { isShown?: boolean },
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  terminal.err(question);
  const output = isShown ? process.stderr : nowhere;
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    const answer = await lines.question('');
    if (!isShown) terminal.err('\n');
    return answer;
  } finally {
    lines.close();
  }
}

/** The first line of stdin, even if it has no newline; `''` if stdin is empty. */
export async function readLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}
