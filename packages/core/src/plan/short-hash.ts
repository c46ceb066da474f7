const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** Seven letters and digits (35 bits, FNV-1a) that tell apart what a readable key cannot. Not for identity. */
export function shortHash(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x9dc5811c;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ (code + at), 0x01000193);
  }
  let letters = '';
  for (let digit = 0; digit < 4; digit++) letters += ALPHABET[(high >>> (digit * 5)) & 31];
  for (let digit = 0; digit < 3; digit++) letters += ALPHABET[(low >>> (digit * 5)) & 31];
  return letters;
}
