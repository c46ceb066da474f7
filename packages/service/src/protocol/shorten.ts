const MAX_SHOWN = 200;

/** A name or value for a message, cut off after 200 characters: a client may have chosen one as long as its request. */
export function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
