/**
 * A value that is known only later, as the builder hands it around: whole in a key it keeps its type, inside a
 * template literal it is text. `T` is the type that the value will have.
 */
export interface ExpressionHandle<T> {
  /** The expression without its `${{ }}`, for use in a larger one given to `expression`. */
  readonly source: string;
  readonly toString: () => string;
  readonly toJSON: () => string;
  /** Never there at run time: carries the type. */
  readonly value?: T;
}

/** An expression of the user's own, for example `expression<boolean>('params.size > 3')`. It is checked by `build`. */
export function expression<T>(source: string): ExpressionHandle<T> {
  const text = `\${{ ${source} }}`;
  return { source, toString: () => text, toJSON: () => text };
}

/** Handles for every name under a root; a name that is no identifier is written in brackets. */
export function handlesUnder(
  root: string,
  names: Iterable<string>,
): Readonly<Record<string, ExpressionHandle<unknown>>> {
  const handles: Record<string, ExpressionHandle<unknown>> = {};
  for (const name of names) handles[name] = expression(member(root, name));
  return handles;
}

export function member(base: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${base}.${name}` : `${base}[${JSON.stringify(name)}]`;
}
