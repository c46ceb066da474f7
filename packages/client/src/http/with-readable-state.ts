const MAX_STATE = 4_096;

/**
 * The thing with a `state` that can be shown: cut where it is longer than any reason is, and with every secret in it
 * replaced, since a service may put into that text whatever it was sent.
 */
export function withReadableState<T extends { state?: string | undefined }>(thing: T, secrets: readonly string[]): T {
  const { state } = thing;
  if (state === undefined) return thing;
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), state);
  const shown = hidden.length > MAX_STATE ? `${hidden.slice(0, MAX_STATE)}…` : hidden;
  return shown === state ? thing : { ...thing, state: shown };
}
