import { EngineError } from './engine.ts';

/** Quotes `value` as one word of `sh`. Throws `EngineError` `REJECTED` for NUL, which arguments cannot contain. */
export function shellQuote(value: string): string {
  if (value.includes('\0'))
    throw new EngineError('REJECTED', 'a value with a NUL character cannot be passed to a command');
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Quotes each value and joins them with blanks. */
export function shellWords(values: readonly string[]): string {
  return values.map(shellQuote).join(' ');
}
