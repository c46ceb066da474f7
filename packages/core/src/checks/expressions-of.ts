import { splitTemplate } from '../expressions/split-template.ts';

/** The expressions of a template, with the place where each begins. */
export function expressionsOf(text: string): { source: string; start: number }[] {
  const found: { source: string; start: number }[] = [];
  const split = splitTemplate(text);
  if (split.ok)
    for (const part of split.value)
      if (part.kind === 'expression') found.push({ source: part.source, start: part.start });
  return found;
}
