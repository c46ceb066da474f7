/** Bytes of a text that matches `SIZE`, rounded: `MB` is 10^6, `MiB` 2^20. At most `Number.MAX_SAFE_INTEGER`. */
export function parseSize(text: string): number {
  const [, amount, prefix, binary] = /^(\d+(?:\.\d+)?)([KMGT])?(i)?B$/.exec(text) ?? [];
  const power = prefix === undefined ? 0 : 'KMGT'.indexOf(prefix) + 1;
  return Math.min(Math.round(Number(amount) * (binary === undefined ? 1000 : 1024) ** power), Number.MAX_SAFE_INTEGER);
}
