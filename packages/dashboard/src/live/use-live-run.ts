import { useEffect, useState } from 'preact/hooks';
import { type LiveRun, openRun } from './open-run.ts';

/** Follows a run while the component is shown; undefined before the first effect. */
export function useLiveRun(runId: string): LiveRun | undefined {
  const [run, setRun] = useState<LiveRun>();
  useEffect(() => {
    const opened = openRun(runId);
    setRun(opened);
    return () => opened.close();
  }, [runId]);
  return run?.runId === runId ? run : undefined;
}
