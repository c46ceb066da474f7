/** The bytes of a GB, in which the protocol announces memory. */
export const GB = 1e9;

/** A number of bytes in the largest decimal unit, with at most one digit after the point. */
export function renderSize(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${Math.round((bytes / 1000 ** power) * 10) / 10} ${['B', 'KB', 'MB', 'GB', 'TB'][power]}`;
}
