import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import type { Boot } from './read-fate.ts';

/** The boot's id is cut to its first 16 hexadecimal digits, as in claims. */
export async function readBoot(): Promise<Boot> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return { id: text.replaceAll('-', '').slice(0, 16), timeMs: Date.now() - uptime() * 1000 };
}
