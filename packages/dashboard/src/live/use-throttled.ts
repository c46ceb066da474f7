import { useEffect, useRef, useState } from 'preact/hooks';

/** A value that changes often, at most once in so many milliseconds; the last one is never missed. */
export function useThrottled<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  const newest = useRef(value);
  newest.current = value;
  const isLate = shown !== value;
  useEffect(() => {
    if (!isLate) return;
    const timer = setTimeout(() => setShown(newest.current), ms);
    return () => clearTimeout(timer);
  }, [isLate]);
  return shown;
}
