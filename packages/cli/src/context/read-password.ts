import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { CommandContext } from './command-context.ts';
import { EXIT_CODE } from './exit-code.ts';

/** Options of commands that ask on the terminal. */
export interface InputOptions {
  /** False: never ask. */
  readonly input?: boolean;
}

/**
 * Reads a password from SLUICE_PASSWORD, else from the keyboard without echo, else the first line of stdin. Never from
 * an argument, which every user of the machine could read. Throws if it is empty, or if it would have to be typed and
 * `input` is false.
 */
export async function readPassword(context: CommandContext, options: InputOptions): Promise<string> {
  const isTyped = context.terminal.interactive;
  const read = () => (isTyped ? ask('Password: ', context) : readLine());
  if (!context.env.SLUICE_PASSWORD) checkInput('a password', { context, options, others: ' or set SLUICE_PASSWORD' });
  const password = context.env.SLUICE_PASSWORD || (await read());
  if (password !== '') return password;
  throw new Error('could not use the password: it is empty; pass one on standard input or in SLUICE_PASSWORD');
}

/** Reads an e-mail address from SLUICE_EMAIL, else from the keyboard; `''` if there is neither. */
export async function readEmail(context: CommandContext, { input = true }: InputOptions): Promise<string> {
  if (context.env.SLUICE_EMAIL) return context.env.SLUICE_EMAIL;
  return input && context.terminal.interactive ? (await ask('E-mail: ', { ...context, isShown: true })).trim() : '';
}

/** Reads a token from the first line of stdin. Throws if it would have to be typed and `input` is false. */
export async function readToken(context: CommandContext, options: InputOptions): Promise<string> {
  checkInput('a token', { context, options, others: '' });
  return (await readLine()).trim();
}

/** Throws if standard input is the keyboard, and the user does not want to be asked. */
function checkInput(
  what: string,
  { context, options, others }: { context: CommandContext; options: InputOptions; others: string },
): void {
  const isKeyboard = context.terminal.interactive || process.stdin.isTTY === true;
  if (options.input !== false || !isKeyboard) return;
  throw new Error(`could not ask for ${what}: --no-input is set; pass it on standard input${others}`);
}

/** Ctrl-C ends the process, as at every other prompt. Throws if the input ends. */
async function ask(
  question: string,
  { terminal, exit, isShown = false }: Pick<CommandContext, 'terminal' | 'exit'> & { isShown?: boolean },
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: isShown ? process.stderr : nowhere, terminal: true });
  lines.on('SIGINT', () => {
    lines.close();
    terminal.err('');
    exit(EXIT_CODE.interrupted);
  });
  // With an output, readline draws the line again after each key, and so must know the question. Without one, the question
  // follows the interface, which turns off the echo.
  if (!isShown) process.stderr.write(question);
  try {
    const answer = await lines.question(isShown ? question : '');
    if (!isShown) terminal.err('');
    return answer;
  } catch {
    terminal.err('');
    throw new Error('the input ended');
  } finally {
    lines.close();
  }
}

/** The first line of stdin, even if it has no newline; `''` if stdin is empty. */
async function readLine(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return '';
}
