import type { Check, CheckedStep } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** Arguments that only a shell gives a meaning. `;`, `&` and `<` alone are arguments of common programs too. */
const OPERATOR = /^(?:\||\|\||&&|(?:[0-9]|&)?>>?(?:&[0-9])?|<<<?)$/;
/** A redirection with its file in one argument. */
const REDIRECTION = /^[0-9]?>>?\s*[\w./-]+$/;
/** Programs with operators of this form. */
const WITH_OPERATORS: ReadonlySet<string> = new Set(['expr', 'test', '[', 'find', 'awk', 'gawk', 'mawk', 'jq', 'yq']);
/** Variables that a shell almost always has. */
const COMMON = ['HOME', 'PATH', 'PWD', 'USER', 'TMPDIR', 'HOSTNAME'];
const VARIABLE = /(?<![\\$])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
/** The next argument is a program in its own language, in which all of this may have a meaning. */
const WITH_SCRIPT = /^(?:-[A-Za-z]*[ce]|--(?:eval|command|expression|execute))$/;

/** A command that is a list runs without a shell, so a variable or operator of one in it would be an argument. */
export const checkShellSyntax: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { command } = checked.raw;
    if (!Array.isArray(command) || command.some((argument: string) => WITH_SCRIPT.test(argument))) continue;
    for (const [index, argument] of command.entries()) {
      const found = index === 0 ? undefined : syntaxOf(argument, checked, command[0] ?? '');
      if (found === undefined) continue;
      context.report({
        code: 'no-shell',
        severity: 'warning',
        message: `the \`command\` of step \`${checked.step.name}\` is a list, which runs without a shell: the program gets \`${found}\` as it is written`,
        path: pathInStep(context, checked, ['command', index]),
        within: { text: argument, start: argument.indexOf(found), end: argument.indexOf(found) + found.length },
        hint: 'write the command as one string, which a shell runs',
      });
      break;
    }
  }
};

/** The first part of an argument that is meant for a shell. */
function syntaxOf(argument: string, { step }: CheckedStep, program: string): string | undefined {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (!WITH_OPERATORS.has(name) && (OPERATOR.test(argument) || REDIRECTION.test(argument))) return argument;
  for (const [found, braced, plain] of argument.matchAll(VARIABLE)) {
    const variable = braced ?? plain ?? '';
    if (COMMON.includes(variable) || Object.hasOwn(step.env, variable) || step.secrets.includes(variable)) return found;
  }
  return undefined;
}
