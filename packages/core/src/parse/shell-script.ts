import { escapeTemplate, splitTemplate } from '../expressions/split-template.ts';
import type { Template } from '../model/template.ts';
import { createShellReader, type ShellContext } from './shell-reader.ts';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh']);
/** Interpreters that take a program as `-e`; all others take `-c`. */
const EVAL: ReadonlySet<string> = new Set(['node', 'deno', 'bun', 'ruby', 'perl', 'lua', 'Rscript']);

/** The argv of a script, and variables for its expressions. */
export interface ShellScript {
  readonly command: readonly Template[];
  /** The expressions, by variable. */
  readonly env: Readonly<Record<string, Template>>;
  /** An expression is in a here-document with a quoted delimiter, where the shell inserts no values. */
  readonly unreachable?: true;
}

/** Whether values can be passed to this interpreter as shell variables. */
export function isShell(interpreter: readonly string[]): boolean {
  return SHELLS.has(programOf(interpreter));
}

/**
 * The argv that runs a script. In a shell script, each expression becomes a quoted variable whose value is passed in
 * the environment: whatever it contains, it stays one word and is never executed.
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

/** The shell code that inserts the value of a variable, as a part of one word. */
function reading(name: string, context: ShellContext): string {
  if (context === 'code') return `"\${${name}}"`;
  return context === 'single' ? `'"\${${name}}"'` : `\${${name}}`;
}
