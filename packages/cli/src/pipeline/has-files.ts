import type { Pipeline } from '@sluice/core';

/** Whether a pipeline has axes whose items are files of a source. */
export function hasFiles({ axes = {} }: Pick<Pipeline, 'axes'>): boolean {
  return Object.values(axes).some(({ files }) => files !== undefined);
}
