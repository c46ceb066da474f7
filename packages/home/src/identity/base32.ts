const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** The first `length` characters of `bytes` in lower-case base32 (RFC 4648), five bits each. */
export function base32(bytes: Uint8Array, length: number): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (let index = 0; text.length < length; index++) {
    value = ((value << 8) | bytes[index]!) & 0xfff;
    for (bits += 8; bits >= 5 && text.length < length; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31];
  }
  return text;
}
