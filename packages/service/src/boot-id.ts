import { readBootId } from '@sluice/host-system';

/** The first 16 hexadecimal digits of the boot's ID, the form stored in records; undefined if the kernel provides none. */
export function bootId(): string | undefined {
  return readBootId()?.replaceAll('-', '').slice(0, 16);
}
