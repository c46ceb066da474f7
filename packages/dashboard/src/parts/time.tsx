import { timeWords, zoneWords } from './time-words.ts';

/** A time in the user's zone; the tooltip has the zone, and the time in UTC. */
export function Time({ at }: { at: number | string }) {
  const utc = new Date(at).toISOString();
  return (
    <time dateTime={utc} title={`${timeWords(at)} ${zoneWords(at)}, ${utc}`}>
      {timeWords(at)}
    </time>
  );
}
