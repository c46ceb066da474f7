import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandContext } from './command-context.ts';

/**
 * A password from SLUICE_PASSWORD, else from the keyboard without showing it, else the first line of stdin. Never from
 * an argument, which every user of the machine could read.
 */
export async function readPassword(context: CommandContext): Promise<string> {
  if (context.env.SLUICE_PASSWORD) return context.env.SLUICE_PASSWORD;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (context.terminal.interactive) context.terminal.err('Password: ');
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: context.terminal.interactive });
  try {
    const password = await lines.question('');
    if (context.terminal.interactive) context.terminal.err('\n');
    if (password === '') throw new Error('could not take an empty password');
    return password;
  } finally {
    lines.close();
  }
}
