import type { Observation } from './engine.ts';

/**
 * What an engine has seen, told without the path of the cluster's storage: an engine's words are those of the kernel or
 * of another program, and whoever has a container is not to learn from them where the host keeps what.
 */
export function withoutHostPath(seen: Observation, storage: string): Observation {
  if (seen.type === 'pending') return { ...seen, reason: hidePath(seen.reason, storage) };
  if (seen.type !== 'ended' || !('reason' in seen.end)) return seen;
  return { ...seen, end: { ...seen.end, reason: hidePath(seen.end.reason, storage) } };
}

/** `text` with `(storage)` for the path. */
export function hidePath(text: string, storage: string): string {
  return text.replaceAll(storage, '(storage)');
}
