/** The bytes of a GB, in which the protocol announces memory. */
export const GB = 1e9;

/** A number with a decimal or binary unit: `MB` is 10^6 bytes, `MiB` 2^20, as in a pipeline file. Not zero. */
export const SIZE = /^(?=.*[1-9])\d{1,9}(?:\.\d{1,9})?(?:B|[KMGT]i?B)$/;

/** Bytes of a text that matches `SIZE`, rounded up. */
export function parseSize(text: string): number {
  const [, amount, prefix, binary] = /^([\d.]+)([KMGT])?(i)?B$/.exec(text) ?? [];
  const power = prefix === undefined ? 0 : 'KMGT'.indexOf(prefix) + 1;
  return Math.ceil(Number(amount) * (binary === undefined ? 1000 : 1024) ** power);
}

/** A number of bytes in the largest decimal unit, with at most one digit after the point. */
export function renderSize(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${Math.round((bytes / 1000 ** power) * 10) / 10} ${['B', 'KB', 'MB', 'GB', 'TB'][power]}`;
}
