import { EngineError } from './engine.ts';

/**
 * Throws `EngineError` `REJECTED` for an option of a step that the administrator's list does not contain. `group` is the key
 * of the step that has the options.
 */
export function checkAllowed(group: string, requested: readonly string[], allowed: readonly string[]): void {
  const denied = requested.filter((name) => !allowed.includes(name));
  if (denied.length === 0) return;
  const names = denied.map((name) => `'${group}.${name}'`).join(', ');
  const list = allowed.length === 0 ? 'none of these options' : `only ${allowed.join(', ')}`;
  throw new EngineError(
    'REJECTED',
    `could not use ${names} of the step: the cluster allows ${list}; the administrator of the service can add it to 'allow' in the options of the cluster or of the instance type`,
  );
}

/** `value` without the keys that are undefined, which would hide those of another object. */
export function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Partial<T>;
}
