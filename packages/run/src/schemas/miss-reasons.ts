/**
 * Why a lookup in the cache had no usable result. `unknown`: no success has this fingerprint. `rerun`: it was requested, a step
 * before it was executed in this run, or it is a step of `finally`. `writesShared`: its effect is in a volume, not in its
 * outputs. `readsShared`: nothing identifies the content of a volume that it reads. `secret`: a result of the success contains
 * the present value of a secret. `dataChanged`: a container has changed the outputs after their publication. `removed`: a cell
 * that runs mounts its temporary outputs, which were removed.
 */
export const MISS_REASONS = [
  'unknown',
  'expired',
  'dataGone',
  'dataChanged',
  'rerun',
  'writesShared',
  'readsShared',
  'secret',
  'removed',
] as const;

/** One of `MISS_REASONS`. */
export type MissReason = (typeof MISS_REASONS)[number];
