import type { StreamEvents } from '@sluice/host';
import { apiUrl, isRejection, messageFor, send } from './fetch-reply.ts';

/** Whether events arrive; if the server does not send them, why. */
export interface Connection {
  readonly isConnected: boolean;
  readonly rejection?: string;
}

/** What to receive, and the functions that receive it. */
export interface EventOptions {
  /** The run to follow. */
  readonly run?: string;
  /** Whether to follow the list of runs. */
  readonly list?: boolean;
  readonly on: { readonly [N in keyof StreamEvents]?: (data: StreamEvents[N]) => void };
  /** Called when the connection is lost and when it is there again. */
  readonly onConnection: (connection: Connection) => void;
}

const NAMES = ['changes', 'snapshot', 'runs', 'missing'] as const;
const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 30_000;

/**
 * Opens the event stream. The browser reconnects by itself with the ID of the last event. If the server rejects that, this
 * opens a new stream, which begins with a snapshot. Returns a function that closes it.
 */
export function openEvents(options: EventOptions): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delayMs = FIRST_DELAY_MS;
  const closed = new AbortController();
  const url = apiUrl('events', { run: options.run, list: options.list });

  const open = () => {
    source = new EventSource(url);
    source.onopen = () => {
      delayMs = FIRST_DELAY_MS;
      options.onConnection({ isConnected: true });
    };
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) {
        options.onConnection({ isConnected: false });
        return;
      }
      void findRejection(url, closed.signal).then((rejection) => {
        if (!closed.signal.aborted) options.onConnection({ isConnected: false, ...rejection });
      });
      timer = setTimeout(open, delayMs);
      delayMs = Math.min(LAST_DELAY_MS, delayMs * 2);
    };
    for (const name of NAMES) {
      const receive = options.on[name] as ((data: unknown) => void) | undefined;
      if (receive) source.addEventListener(name, ({ data }: MessageEvent<string>) => receive(JSON.parse(data)));
    }
  };
  open();
  return () => {
    closed.abort();
    clearTimeout(timer);
    source.close();
  };
}

/** An `EventSource` does not tell why it was closed; the same request does. */
async function findRejection(url: string, closed: AbortSignal): Promise<Pick<Connection, 'rejection'>> {
  const read = new AbortController();
  try {
    await send(url, { signal: AbortSignal.any([closed, read.signal]) });
    return {};
  } catch (error) {
    return isRejection(error) ? { rejection: messageFor(error) } : {};
  } finally {
    read.abort();
  }
}
