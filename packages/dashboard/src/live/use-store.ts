import { useEffect, useReducer } from 'preact/hooks';
import type { Store } from './store.ts';

/** Renders the component again after each change of the store. */
export function useStore(store: Store): void {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const { version } = store;
  useEffect(() => {
    // Effects run after the frame is shown; what changed in between was not reported to this component.
    if (store.version !== version) render(undefined);
    return store.subscribe(() => render(undefined));
  }, [store]);
}
