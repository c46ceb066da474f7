import { EngineError } from './engine.ts';

/** One word of `sh` that means exactly `value`; NUL, which no argument can hold, is refused. */
export function shellQuote(value: string): string {
  if (value.includes('\0'))
    throw new EngineError('REFUSED', 'a value with a NUL character cannot be passed to a command');
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Each value as a word. */
export function shellWords(values: readonly string[]): string {
  return values.map(shellQuote).join(' ');
}
