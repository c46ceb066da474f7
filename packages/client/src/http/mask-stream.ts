const SHOWN = Buffer.from('[secret]');

/** The bytes with every secret replaced, also if it is split between chunks. */
export async function* maskStream(
  pieces: AsyncIterable<Uint8Array>,
  secrets: () => readonly string[],
): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const hidden = secrets().map((secret) => Buffer.from(secret));
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const masked = mask(held.length === 0 ? bytes : Buffer.concat([held, bytes]), hidden);
    const begun = Math.max(0, ...hidden.map((secret) => begunLength(masked, secret)));
    held = begun === 0 ? Buffer.alloc(0) : Buffer.from(masked.subarray(masked.length - begun));
    if (masked.length > begun) yield masked.subarray(0, masked.length - begun);
  }
  if (held.length > 0) yield held;
}

function mask(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let masked = bytes;
  for (const secret of secrets) {
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = masked.indexOf(secret); at !== -1; at = masked.indexOf(secret, from)) {
      parts.push(masked.subarray(from, at), SHOWN);
      from = at + secret.length;
    }
    if (from > 0) masked = Buffer.concat([...parts, masked.subarray(from)]);
  }
  return masked;
}

/** The number of bytes at the end that may be the start of the secret. */
function begunLength(bytes: Buffer, secret: Buffer): number {
  let length = Math.min(bytes.length, secret.length - 1);
  while (length > 0 && !bytes.subarray(bytes.length - length).equals(secret.subarray(0, length))) length -= 1;
  return length;
}
