import type { PartDifference, PlaceDifference } from '@sluice/run';

/** A path with more links is shortened in the middle. */
const MAX_LINKS = 10;
const [FIRST, LAST] = [5, 4];

/**
 * The path from a place to the first cause as a sentence. `from` follows the verb: `fit differs from run X because its input
 * 'data' differs: prepare differs: its variable SEED was '1', is '2'`.
 */
export function renderPath(places: readonly PlaceDifference[], index: number, from: string): string {
  const place = places[index]!;
  const [part] = place.parts;
  if (part === undefined || place.cell === undefined) return place.message;
  const links = linksFrom(places, part);
  const shown =
    links.length <= MAX_LINKS
      ? links
      : [...links.slice(0, FIRST), `… (${links.length - FIRST - LAST} more) …`, ...links.slice(-LAST)];
  const others = place.partCount - 1;
  const more = others === 0 ? '' : ` (and ${others} other ${others === 1 ? 'part differs' : 'parts differ'})`;
  if (place.verdict === 'repeated') return `${place.message} since ${from}: ${shown.join(': ')}`;
  return `${place.message} from ${from} because ${shown.join(': ')}${more}`;
}

function linksFrom(places: readonly PlaceDifference[], first: PartDifference): string[] {
  const links: string[] = [];
  for (let part: PartDifference | undefined = first; part !== undefined; ) {
    const place: PlaceDifference | undefined = part.place === undefined ? undefined : places[part.place];
    // The name of the first cell is also in the message of its place.
    if (part.kind !== 'cells' || place === undefined) links.push(part.message);
    if (place !== undefined) links.push(place.message);
    part = place?.parts[0];
  }
  return links;
}
