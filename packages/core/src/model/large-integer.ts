const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * The first integer in a JSON text that a double does not represent exactly, as written: from 2^53 on, neighbors become
 * equal. Numbers with a fraction or an exponent are approximate by nature and are ignored.
 */
export function findLargeInteger(text: string): string | undefined {
  // Most texts contain no such run of digits.
  if (!/\d{16}/.test(text)) return undefined;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at === -1) return undefined;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0];
      if (number === undefined) continue;
      if (isLargeInteger(number)) return number;
      at += number.length - 1;
    }
  }
  return undefined;
}

/** Whether a text is an integer, decimal, hexadecimal or octal, that a double does not represent exactly. */
export function isLargeInteger(text: string): boolean {
  const value = /^[-+]?(?:\d+|0[xX][\da-fA-F]+|0[oO][0-7]+)$/.test(text) ? Number(text.replace(/^[-+]/, '')) : 0;
  return !Number.isSafeInteger(value);
}

/** The offset of the quote that ends the string starting at `start` in a JSON text; -1 if there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** The reason to reject such a number, as the end of a sentence. */
export function describeLargeInteger(number: string): string {
  return `the integer ${number} is beyond 2^53 and would be rounded; write it as a string`;
}
