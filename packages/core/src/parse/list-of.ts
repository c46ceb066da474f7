/** A list of names, of which the short form of one is the name. */
export function listOf(names: string | readonly string[]): readonly string[] {
  return typeof names === 'string' ? [names] : names;
}
