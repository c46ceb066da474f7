import type { Check } from './check-context.ts';
import { pathInStep } from './check-context.ts';

/** `{{ … }}` as in other systems, recognized by the first word; templates of other tools start differently. */
const FOREIGN =
  /(?<!\$)\{\{-?\s*(?:matrix|params|parameters|inputs|outputs|item|steps|tasks|env|secrets|workflow|run)\b[^{}]*\}\}/;

/** A template of another system is plain text here, and would reach the program unchanged. */
export const checkForeignTemplates: Check = (context) => {
  for (const checked of context.steps.values()) {
    const look = (text: unknown, ...keys: (string | number)[]): void => {
      if (typeof text !== 'string' || !text.includes('{{')) return;
      const found = FOREIGN.exec(text);
      if (found === null) return;
      context.report({
        code: 'foreign-template',
        severity: 'warning',
        message: `\`${found[0]}\` is not an expression`,
        path: pathInStep(context, checked, keys),
        within: { text, start: found.index, end: found.index + found[0].length },
        hint: `expressions are written \${{ … }}`,
      });
    };
    const { raw, step } = checked;
    look(step.image, 'image');
    look(raw.script, 'script');
    look(raw.when, 'when');
    if (Array.isArray(raw.command)) for (const [index, text] of raw.command.entries()) look(text, 'command', index);
    else look(raw.command, 'command');
    for (const name in raw.env) look(raw.env[name], 'env', name);
  }
};
