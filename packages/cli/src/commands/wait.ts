import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { attach } from './attach.ts';

/** `sluice wait`: follows a run without showing it, for the exit code. */
export function wait(prefix: string | undefined, context: CommandContext, options: GlobalOptions): Promise<number> {
  return attach(prefix, context, { ...options, quiet: true });
}
