import { readFileSync } from 'node:fs';

let known: string | undefined;

/** This boot of the machine: the first 16 hexadecimal digits of its ID, as in claims. Undefined where the kernel does not tell. */
export function bootID(): string | undefined {
  try {
    known ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 16);
  } catch {
    return undefined;
  }
  return known;
}
