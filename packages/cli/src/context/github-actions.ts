import { relative, resolve } from 'node:path';
import type { CommandContext, GlobalOptions } from './command-context.ts';

/** Whether the text output of a command is the log of a job of GitHub Actions. */
export function isGithubLog({ env }: Pick<CommandContext, 'env'>, { json }: Pick<GlobalOptions, 'json'>): boolean {
  return env.GITHUB_ACTIONS === 'true' && json !== true;
}

/** The path of a file as annotations need it: relative to the repository. `file` is relative to the working directory. */
export function pathInRepository(file: string, { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>): string {
  const path = resolve(cwd, file);
  const inside = env.GITHUB_WORKSPACE ? relative(env.GITHUB_WORKSPACE, path) : '';
  return inside === '' || inside.startsWith('..') ? path : inside;
}
