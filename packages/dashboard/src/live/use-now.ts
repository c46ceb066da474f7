import { useEffect, useState } from 'preact/hooks';

const TICK_MS = 1_000;

/** The present time in milliseconds, which advances each second while `isLive`. */
export function useNow(isLive: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return now;
}
