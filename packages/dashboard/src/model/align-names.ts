/** A name of two lists. */
export interface AlignedName {
  readonly name: string;
  /** Its index in each list; undefined where a list does not have it. */
  readonly places: readonly [number | undefined, number | undefined];
}

/**
 * The names of two lists, each once: those of the first list in its order, and those that only the second has after the name
 * that they follow there. Names of one list differ.
 */
export function alignNames(first: readonly string[], second: readonly string[]): AlignedName[] {
  const known = new Set(first);
  const places = new Map(second.map((name, place) => [name, place]));
  const added = new Map<string | undefined, AlignedName[]>();
  let previous: string | undefined;
  second.forEach((name, place) => {
    if (known.has(name)) {
      previous = name;
      return;
    }
    const followers = added.get(previous);
    const one: AlignedName = { name, places: [undefined, place] };
    if (followers) followers.push(one);
    else added.set(previous, [one]);
  });
  const followersOf = (name: string | undefined) => added.get(name) ?? [];
  return [
    ...followersOf(undefined),
    ...first.flatMap((name, place): AlignedName[] => [
      { name, places: [place, places.get(name)] },
      ...followersOf(name),
    ]),
  ];
}
