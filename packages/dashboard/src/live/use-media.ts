import { useEffect, useState } from 'preact/hooks';

/** Where a page is as narrow as on a phone. */
export const PHONE = '(max-width: 560px)';

/** Whether the user wants little motion. */
export const REDUCED_MOTION = '(prefers-reduced-motion: reduce)';

/** Whether a media query matches; the component is rendered again when this changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const update = () => setMatches(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, [query]);
  return matches;
}
