import { readFileSync } from 'node:fs';

let known: string | undefined;

/** The ID of the machine's current boot; undefined if the kernel does not provide one. No process outlives a boot. */
export function readBootId(): string | undefined {
  try {
    known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {}
  return known;
}
