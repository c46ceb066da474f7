import { own } from './own.ts';
import type { Input, Pipeline, Step } from './pipeline.ts';

/** Whether an input gives write access to a volume shared with other steps and runs, instead of a private copy. */
export function writesToShared(input: Input, { volumes }: Pick<Pipeline, 'volumes'>): boolean {
  if (!input.writable || !('volume' in input.from)) return false;
  const volume = own(volumes, input.from.volume);
  return volume !== undefined && volume.source === undefined;
}

/**
 * The first input of a step that writes to a shared volume. Such a step is never reused, because its effect is not in
 * its outputs.
 */
export function findSharedWrite({ inputs }: Pick<Step, 'inputs'>, pipeline: Pick<Pipeline, 'volumes'>) {
  for (const name in inputs) if (writesToShared(inputs[name]!, pipeline)) return name;
  return undefined;
}
