import { SluiceError } from './sluice-error.ts';

/** Throws `SluiceError` `INVALID_ARGUMENT` where the condition does not hold. */
export function requireArgument(isRight: boolean, message: string): asserts isRight {
  if (!isRight) throw new SluiceError('INVALID_ARGUMENT', message);
}

/** Whether a value is an object, so that its keys can be read. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Calls what does nothing but read the arguments of the public function `name`. Whatever it throws means that they do not
 * have their declared type, and becomes a `SluiceError` `INVALID_ARGUMENT` with that cause. A `SluiceError` stays as it is.
 */
export function guardArguments<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SluiceError('INVALID_ARGUMENT', `${name}: could not read an argument: ${reason}`, { cause: error });
  }
}
