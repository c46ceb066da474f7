import type { MissReason } from '../schemas/miss-reasons.ts';

/** Why a lookup in the cache had no usable result, in words. */
export function describeMiss(reason: MissReason): string {
  return MISSES[reason];
}

const MISSES = {
  unknown: 'no earlier success has its fingerprint',
  expired: 'the earlier success is older than maxAge',
  dataGone: 'the outputs of the earlier success are gone',
  dataChanged: 'a container changed the outputs of the earlier success',
  writesShared: 'it writes to a shared volume, and a reused step writes nothing',
  readsShared: 'it reads a volume to which others may write',
  rerun: 'a rerun was requested, a step before it was executed, or it is a step of finally',
  removed: 'its temporary outputs were removed, and a cell that runs mounts them',
  secret: 'a result of the earlier success contains the value of a secret of this run',
} as const;
