const MAX_STATE = 4_096;

/**
 * A copy with a `state` that can be shown: shortened, and with every secret replaced, because a service may repeat
 * there what it was sent.
 */
export function withReadableState<T extends { state?: string | undefined }>(thing: T, secrets: readonly string[]): T {
  const { state } = thing;
  if (state === undefined) return thing;
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), state);
  const shown = hidden.length > MAX_STATE ? `${hidden.slice(0, MAX_STATE)}…` : hidden;
  return shown === state ? thing : { ...thing, state: shown };
}
