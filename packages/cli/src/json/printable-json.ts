/**
 * JSON in which all control and format characters are escaped, so that a terminal that shows it is not changed by what
 * `JSON.stringify` leaves, such as U+009B and U+202E. The value is the same.
 */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
