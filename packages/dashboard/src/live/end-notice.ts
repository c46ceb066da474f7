import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveRun } from './open-run.ts';
import { useStore } from './use-store.ts';

/** The runs of which the user wants to know the end, as long as this page is open. */
const watched = new Set<string>();

/** Whether a notification of the end was asked for, and what asks for it; undefined where the browser has none. */
export function useWatch(runId: string): { readonly isWatched: boolean; readonly watch: () => void } | undefined {
  const [isWatched, setWatched] = useState(watched.has(runId));
  if (!('Notification' in globalThis)) return undefined;
  const watch = async () => {
    if (watched.delete(runId)) setWatched(false);
    else if ((await Notification.requestPermission()) === 'granted') {
      watched.add(runId);
      setWatched(true);
    }
  };
  return { isWatched, watch: () => void watch() };
}

/** Shows a notification when a watched run ends. */
export function useEndNotice(run: LiveRun): void {
  useStore(run);
  const { runId, status, details } = run;
  const before = useRef(status);
  useEffect(() => {
    const hasEnded = before.current === 'running' && status !== undefined && status !== 'running';
    before.current = status;
    if (hasEnded && watched.delete(runId))
      new Notification(`${details?.pipeline ?? 'The run'} ${status}`, { body: `run ${runId}`, tag: runId });
  }, [status]);
}
