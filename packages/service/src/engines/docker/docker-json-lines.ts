/** What the daemon says in a stream of JSON, one value a line; throws `SyntaxError` where it breaks off within one. */
export async function* parseJsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}
