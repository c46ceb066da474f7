import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';

/** The first 16 hexadecimal digits of this boot's id: a process id means nothing across boots. */
export async function readBootID(): Promise<string> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  return text.replaceAll('-', '').slice(0, 16);
}

/** When this machine was started, in milliseconds since the epoch by today's clock. */
export function bootTimeMs(): number {
  return Date.now() - uptime() * 1000;
}
