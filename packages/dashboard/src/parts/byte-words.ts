const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size with a binary unit, for example `1.5 MiB`. */
export function byteWords(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}
