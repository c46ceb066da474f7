import { requireArgument } from '../model/guard-arguments.ts';

/**
 * A value that becomes known only during a run. As the whole value of a key it keeps its type; inside a template
 * literal it becomes text. `T` is the type that the value will have.
 */
export interface ExpressionHandle<T> {
  /** The expression without `${{ }}`, for use in a larger expression. */
  readonly source: string;
  /** The expression with `${{ }}`, for template literals. */
  readonly toString: () => string;
  /** The expression with `${{ }}`, as a file contains it. */
  readonly toJSON: () => string;
  /** Never set; carries the type. */
  readonly value?: T;
}

/** A string, or a value that is converted to one. */
export type Text = string | ExpressionHandle<unknown>;

/**
 * An expression in its source form, for example `expression<boolean>('params.size > 3')`. `build` checks it; `T` is not
 * verified.
 *
 * @example
 * ```ts
 * import { expression, pipeline } from 'sluice';
 *
 * const p = pipeline('p', { params: { names: ['a'] } });
 * p.step('greet', { command: ['greet'], when: expression<boolean>('size(params.names) > 1') });
 * ```
 */
export function expression<T>(source: string): ExpressionHandle<T> {
  requireArgument(typeof source === 'string', 'expression: the source must be a string');
  const text = `\${{ ${source} }}`;
  return { source, toString: () => text, toJSON: () => text };
}

/** Handles for all names under a root. */
export function handlesUnder(
  root: string,
  names: Iterable<string>,
): Readonly<Record<string, ExpressionHandle<unknown>>> {
  const handles: Record<string, ExpressionHandle<unknown>> = {};
  for (const name of names) handles[name] = expression(member(root, name));
  return handles;
}

/** The source of an access; a name that is not an identifier is written in brackets. */
export function member(base: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${base}.${name}` : `${base}[${JSON.stringify(name)}]`;
}
