import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandContext } from './command-context.ts';

/**
 * A password from SLUICE_PASSWORD, else from the keyboard without showing it, else the first line of stdin. Never from
 * an argument, which every user of the machine could read.
 */
export async function readPassword(context: CommandContext): Promise<string> {
  const password = context.env.SLUICE_PASSWORD || (await (context.terminal.interactive ? ask(context) : readLine()));
  if (password !== '') return password;
  throw new Error('could not use the password: it is empty; pass one on standard input or in SLUICE_PASSWORD');
}

async function ask({ terminal }: CommandContext): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  terminal.err('Password: ');
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    const password = await lines.question('');
    terminal.err('\n');
    return password;
  } finally {
    lines.close();
  }
}

/** The first line of stdin, also where it has no end; `''` where there is none. */
async function readLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}
