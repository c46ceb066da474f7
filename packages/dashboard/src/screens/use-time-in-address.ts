import { useEffect, useRef, useState } from 'preact/hooks';
import { replaceQuery } from '../live/route.ts';
import type { TimeFormat } from '../model/time-format.ts';

/** Browsers accept few changes of the address each second. */
const ADDRESS_MS = 300;

/** A time in milliseconds, kept in the address as the value `at` of its query (`inAddress`); undefined for the present. */
export function useTimeInAddress(inAddress: string | null, format: TimeFormat) {
  const [at, setAt] = useState(() => parseTime(inAddress, format));
  const written = useRef(inAddress);
  // A link, or an address that the user has changed.
  useEffect(() => {
    if (inAddress !== written.current) setAt(parseTime(inAddress, format));
    written.current = inAddress;
  }, [inAddress]);
  useEffect(() => {
    const text = at === undefined ? null : format.render(at);
    if (text === written.current) return;
    const timer = setTimeout(() => {
      written.current = text;
      replaceQuery({ at: text ?? undefined });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [at]);
  return [at, setAt] as const;
}

function parseTime(text: string | null, { parse }: TimeFormat): number | undefined {
  const at = parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}
