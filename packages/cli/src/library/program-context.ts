import { fileURLToPath } from 'node:url';
import type { ServiceContext } from '../context/command-context.ts';

/** The command of this package, which a host in the background is started with. */
const COMMAND = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url));

/** The process of a program, for parts that commands use too. What they would print to stderr becomes a warning of Node.js. */
export function createProgramContext(env: NodeJS.ProcessEnv = process.env): ServiceContext {
  return { env, cwd: process.cwd(), program: [COMMAND], terminal: { err: (...lines) => warn(lines.join('\n')) } };
}

/** Tells a program what is no error; it can listen to `process.on('warning')`. */
export function warn(message: string): void {
  process.emitWarning(message, 'SluiceWarning');
}
