const NEWLINE = 0x0a;

/** Returns the last `count` lines; a newline at the end belongs to the last line. */
export function tailLines(bytes: Buffer, count: number): Buffer {
  let start = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  for (let left = count; left > 0; left--) {
    start = start === 0 ? -1 : bytes.lastIndexOf(NEWLINE, start - 1);
    if (start === -1) return bytes;
  }
  return bytes.subarray(start + 1);
}
