import { own } from './own.ts';
import type { Input, Pipeline, Step } from './pipeline.ts';

type Volumes = Pick<Pipeline, 'volumes'>;

/** Whether an input mounts a volume to which other steps and runs may write: one that was not created from local files. */
function isShared({ from }: Input, { volumes }: Volumes): boolean {
  const volume = 'volume' in from ? own(volumes, from.volume) : undefined;
  return volume !== undefined && volume.source === undefined;
}

/** Whether an input gives write access to a volume shared with other steps and runs, instead of a private copy. */
export function writesToShared(input: Input, pipeline: Volumes): boolean {
  return input.writable === true && isShared(input, pipeline);
}

/**
 * The first input of a step that writes to a shared volume. Such a step is never reused, because its effect is not in
 * its outputs.
 */
export function findSharedWrite({ inputs }: Pick<Step, 'inputs'>, pipeline: Volumes) {
  for (const name in inputs) if (writesToShared(inputs[name]!, pipeline)) return name;
  return undefined;
}

/**
 * The first input of a step with a content that nothing identifies, because others may write to its volume, except for
 * inputs that its `cache` ignores. Such a step is not reused.
 */
export function findSharedRead({ inputs, cache }: Pick<Step, 'inputs' | 'cache'>, pipeline: Volumes) {
  for (const name in inputs) {
    if (isShared(inputs[name]!, pipeline) && !cache?.ignore.includes(name)) return name;
  }
  return undefined;
}
