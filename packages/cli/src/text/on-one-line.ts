/**
 * Text from outside with blanks for its line breaks, so that it cannot begin a line. The terminal removes other control
 * characters; styles stay.
 */
export function onOneLine(text: string): string {
  return text.replace(/[\n\r\u2028\u2029]+/g, ' ');
}
