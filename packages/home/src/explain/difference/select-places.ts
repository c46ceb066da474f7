import type { PlaceDifference } from '@sluice/run';

/** More are not read by a person. */
const MAX_PLACES = 200;

/** Some places, in the order of their distance from the first ones. */
export interface SelectedPlaces {
  /** Their parts refer to all places. */
  readonly places: readonly PlaceDifference[];
  /** The same with its index among the selected places; without one, if its place is not selected. */
  move<T extends { readonly place?: number | undefined }>(referrer: T): T;
}

/** Selects the places to which some of them lead, at most 200. */
export function selectPlaces(all: readonly PlaceDifference[], first: readonly number[]): SelectedPlaces {
  const moved = new Map<number, number>();
  const add = (index: number) => {
    if (moved.size < MAX_PLACES && !moved.has(index)) moved.set(index, moved.size);
  };
  for (const index of first) add(index);
  // The loop also handles those that are added meanwhile.
  for (const index of moved.keys()) for (const { place } of all[index]!.parts) if (place !== undefined) add(place);
  return {
    places: [...moved.keys()].map((index) => all[index]!),
    move({ place, ...rest }) {
      const index = place === undefined ? undefined : moved.get(place);
      return { ...rest, ...(index !== undefined && { place: index }) } as never;
    },
  };
}
