/** One server-sent event. */
export interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
}

/** Reads an event stream until it ends or the connection is lost, whatever the reason. */
export async function* readEvents(url: string, lastEventId?: string): AsyncGenerator<ReceivedEvent> {
  try {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const reply = await fetch(url, { headers });
    if (!reply.ok || reply.body === null) throw new Error(`status ${reply.status}`);
    const decoder = new TextDecoder();
    let text = '';
    for await (const block of reply.body) {
      text += decoder.decode(block, { stream: true });
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const event = parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (event !== undefined) yield event;
      }
    }
  } catch {
    // The connection was lost, as tests want it.
  }
}

/** Undefined for a comment, and for what only sets the delay of reconnects. */
function parseEvent(text: string): ReceivedEvent | undefined {
  const fields = new Map(text.split('\n').map((line) => /^(\w*):\s?(.*)$/.exec(line)?.slice(1) as [string, string]));
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { id: fields.get('id') ?? '', name: fields.get('event') ?? 'message', data: JSON.parse(data) };
}
