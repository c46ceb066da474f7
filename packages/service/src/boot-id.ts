import { readBootID } from '@sluice/host-system';

/** This boot of the machine: the first 16 hexadecimal digits of its ID, as in claims. Undefined where the kernel does not tell. */
export function bootID(): string | undefined {
  return readBootID()?.replaceAll('-', '').slice(0, 16);
}
