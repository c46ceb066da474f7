import type { Connection } from '../api/open-events.ts';
import { Note } from './note.tsx';

interface LoadingProps {
  /** For example "the run". */
  readonly what: string;
  readonly connection: Connection;
  /** Why the last request failed. */
  readonly error: string | undefined;
}

/** Stands for what is not loaded yet, and says why it is not. */
export function Loading({ what, connection, error }: LoadingProps) {
  if (connection.isConnected && error === undefined) return <p class="soft">Loading {what}…</p>;
  return (
    <>
      <h1 class="hidden">Could not load {what}</h1>
      {connection.isConnected ? <Note tone="bad">{error}</Note> : <ConnectionNote {...connection} />}
    </>
  );
}

/** Shown until the event stream is open again. */
export function ConnectionNote({ isConnected, rejection }: Connection) {
  if (isConnected) return null;
  if (rejection !== undefined) return <Note tone="bad">{rejection}</Note>;
  return <Note tone="warn">The connection is lost. Trying to connect again…</Note>;
}
