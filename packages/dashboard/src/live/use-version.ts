import { useEffect, useState } from 'preact/hooks';

/**
 * Which version of something is loaded: the newest one, but not before the load of an earlier one has ended. Frequent changes
 * would otherwise abort each load, and nothing would be shown.
 */
export function useVersion(version: unknown): { readonly begun: unknown; readonly end: () => void } {
  const [begun, setBegun] = useState(version);
  const [ended, setEnded] = useState<{ readonly version: unknown }>();
  const isIdle = ended !== undefined && Object.is(ended.version, begun);
  useEffect(() => {
    if (isIdle) setBegun(version);
  }, [isIdle, version]);
  return { begun, end: () => setEnded({ version: begun }) };
}
