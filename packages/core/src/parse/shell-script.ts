import { escapeTemplate, splitTemplate } from '../expressions/split-template.ts';
import type { Template } from '../model/pipeline.ts';

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh']);
/** Interpreters that take a program as `-e`; all others take `-c`. */
const EVAL: ReadonlySet<string> = new Set(['node', 'deno', 'bun', 'ruby', 'perl', 'lua', 'Rscript']);

export interface ShellScript {
  readonly command: readonly Template[];
  /** The values of the script's expressions. */
  readonly env: Readonly<Record<string, Template>>;
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
  let text = '';
  for (const part of split.value) {
    if (part.kind === 'text') text += part.text;
    else {
      const name = `SLUICE_ARG_${Object.keys(env).length + 1}`;
      env[name] = `\${{ ${part.source} }}`;
      text += quoted(name, quoteAt(text));
    }
  }
  return { command: [...interpreter, flag, escapeTemplate(text)], env };
}

function programOf(interpreter: readonly string[]): string {
  return interpreter[0]?.split('/').at(-1) ?? '';
}

function quoted(name: string, quote: '' | '"' | "'"): string {
  if (quote === '"') return `\${${name}}`;
  return quote === "'" ? `'"\${${name}}"'` : `"\${${name}}"`;
}

/** The quote that is open at the end of a piece of shell script. */
function quoteAt(text: string): '' | '"' | "'" {
  let quote: '' | '"' | "'" = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\' && quote !== "'") at++;
    else if (quote === '' && character === '#' && /^$|[\s;&|(]/.test(text[at - 1] ?? '')) {
      const end = text.indexOf('\n', at);
      if (end === -1) return '';
      at = end;
    } else if (character === '"' && quote !== "'") quote = quote === '"' ? '' : '"';
    else if (character === "'" && quote !== '"') quote = quote === "'" ? '' : "'";
  }
  return quote;
}
