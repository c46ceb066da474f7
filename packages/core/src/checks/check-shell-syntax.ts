import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext, CheckedStep } from './check-context.ts';
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

/** Variables of Sluice for the command of a notification, which has those of the runner beside them. */
const OF_NOTIFICATION = ['SLUICE_RUN_ID', 'SLUICE_RUN_NAME', 'SLUICE_RUN_STATUS'];

/** A command of the file. */
interface Written {
  /** For messages. */
  readonly what: string;
  readonly command: unknown;
  readonly path: Path;
  /** The variables that the file gives it. */
  readonly hasVariable: (name: string) => boolean;
}

/**
 * A command that is a list runs without a shell, so a variable or operator of one in it would be an argument. Commands are
 * those of steps, of readiness checks and of notifications.
 */
export const checkShellSyntax: Check = (context) => {
  for (const checked of context.steps.values()) {
    const { step, raw } = checked;
    const hasVariable = (name: string) => Object.hasOwn(step.env, name) || step.secrets.includes(name);
    const commands = [
      [`the \`command\` of step \`${step.name}\``, raw.command, ['command']],
      [`the readiness check of step \`${step.name}\``, readinessOf(raw), ['service', 'ready', 'command']],
    ] as const;
    for (const [what, command, keys] of commands)
      reportSyntax(context, { what, command, path: pathInStep(context, checked, keys), hasVariable });
  }
  const { notify } = context.raw;
  for (const [index, { command }] of [notify ?? []].flat().entries()) {
    const path = Array.isArray(notify) ? ['notify', index, 'command'] : ['notify', 'command'];
    const hasVariable = (name: string) => OF_NOTIFICATION.includes(name);
    reportSyntax(context, { what: 'the `command` of the notification', command, path, hasVariable });
  }
};

function readinessOf({ service }: CheckedStep['raw']): unknown {
  const ready = typeof service === 'object' ? service.ready : undefined;
  return ready !== undefined && 'command' in ready ? ready.command : undefined;
}

/** Reports the first argument of a command that is meant for a shell. */
function reportSyntax({ report }: CheckContext, { what, command, path, hasVariable }: Written): void {
  if (!Array.isArray(command) || command.some((argument: string) => WITH_SCRIPT.test(argument))) return;
  for (const [index, argument] of command.entries()) {
    const found = index === 0 ? undefined : syntaxOf(argument, command[0] ?? '', hasVariable);
    if (found === undefined) continue;
    report({
      code: 'no-shell',
      severity: 'warning',
      message: `${what} is a list, which runs without a shell: the program gets \`${found}\` as it is written`,
      path: [...path, index],
      within: { text: argument, start: argument.indexOf(found), end: argument.indexOf(found) + found.length },
      hint: 'write the command as one string, which a shell runs',
    });
    return;
  }
}

/** The first part of an argument that is meant for a shell. */
function syntaxOf(argument: string, program: string, hasVariable: Written['hasVariable']): string | undefined {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (!WITH_OPERATORS.has(name) && (OPERATOR.test(argument) || REDIRECTION.test(argument))) return argument;
  for (const [found, braced, plain] of argument.matchAll(VARIABLE)) {
    const variable = braced ?? plain ?? '';
    if (COMMON.includes(variable) || hasVariable(variable)) return found;
  }
  return undefined;
}
