import { compileTemplate } from './template.ts';

/**
 * What the expressions of a template read, each once: `['params', 'seed']`, `['steps', 'prepare', 'results', 'rows']`. Nothing
 * of a template that cannot be parsed.
 */
export function namesInTemplate(text: string): readonly (readonly string[])[] {
  const compiled = compileTemplate(text);
  if (!compiled.ok) return [];
  const names = compiled.value.references.map(({ root, keys }) => [root, ...keys]);
  return [...new Map(names.map((name) => [name.join('.'), name])).values()];
}
