import { useEffect, useRef } from 'preact/hooks';

/** Calls `onEscape` for the key, unless a dialog is open or the key belongs to a field. */
export function useEscape(onEscape: () => void): void {
  const current = useRef(onEscape);
  current.current = onEscape;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTaken = event.defaultPrevented || document.querySelector('dialog[open]') !== null;
      if (event.key !== 'Escape' || isTaken || (event.target as Element).matches('input, select, textarea')) return;
      current.current();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
