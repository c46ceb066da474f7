import { readFileSync } from 'node:fs';

let known: string | undefined;

/** The ID of this boot of the machine, which a process does not outlive; undefined where the kernel does not tell. */
export function readBootID(): string | undefined {
  try {
    known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {}
  return known;
}
