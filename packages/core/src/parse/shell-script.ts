import { escapeTemplate, splitTemplate } from '../expressions/split-template.ts';
import type { Template } from '../model/pipeline.ts';
import { createShellReader, type ShellContext } from './shell-reader.ts';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh']);
/** Interpreters that take a program as `-e`; all others take `-c`. */
const EVAL: ReadonlySet<string> = new Set(['node', 'deno', 'bun', 'ruby', 'perl', 'lua', 'Rscript']);

export interface ShellScript {
  readonly command: readonly Template[];
  /** The values of the script's expressions. */
  readonly env: Readonly<Record<string, Template>>;
  /** An expression stands in a here-document with a quoted delimiter, in which the shell puts no values. */
  readonly unreachable?: true;
}

/** Whether values can be handed to this interpreter as shell variables. */
export function isShell(interpreter: readonly string[]): boolean {
  return SHELLS.has(programOf(interpreter));
}

/**
 * The argv that runs a script. In a shell's script each expression becomes a quoted variable, whose value travels in
 * the environment: whatever it contains, it stays one word and is never run.
 */
export function shellScript(script: Template, interpreter: readonly string[]): ShellScript {
  const flag = EVAL.has(programOf(interpreter)) ? '-e' : '-c';
  const split = isShell(interpreter) ? splitTemplate(script) : undefined;
  if (split === undefined || !split.ok) return { command: [...interpreter, flag, script], env: {} };
  const env: Record<string, Template> = {};
  const reader = createShellReader();
  let text = '';
  let count = 0;
  let unreachable = false;
  for (const part of split.value) {
    if (part.kind === 'text') {
      text += part.text;
      reader.read(part.text);
      continue;
    }
    const name = `SLUICE_ARG_${++count}`;
    env[name] = `\${{ ${part.source} }}`;
    text += reading(name, reader.context);
    unreachable ||= reader.context === 'literal';
  }
  return { command: [...interpreter, flag, escapeTemplate(text)], env, ...(unreachable && { unreachable }) };
}

function programOf(interpreter: readonly string[]): string {
  return interpreter[0]?.split('/').at(-1) ?? '';
}

/** How the shell is made to put the value of a variable here, as a part of one word. */
function reading(name: string, context: ShellContext): string {
  if (context === 'code') return `"\${${name}}"`;
  return context === 'single' ? `'"\${${name}}"'` : `\${${name}}`;
}
