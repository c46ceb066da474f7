import { createInterface } from 'node:readline';
import { EXIT_CODE } from '../context/exit-code.ts';
import { printableJson } from '../json/printable-json.ts';
import { answerRequest, type ServerOptions } from './answer-request.ts';

/**
 * `sluice mcp`: serves the Model Context Protocol on standard input and output, one JSON message per line, until the
 * input ends. Requests are answered as their replies are known.
 */
export async function serveMcp(given: ServerOptions, input: NodeJS.ReadableStream = process.stdin): Promise<number> {
  const pending = new Set<Promise<void>>();
  const answer = async (text: string) => {
    const reply = await answerRequest(text, given);
    if (reply !== undefined) given.context.terminal.out(`${printableJson(reply)}\n`);
  };
  for await (const text of createInterface({ input })) {
    if (text.trim() === '') continue;
    const answered = answer(text).finally(() => pending.delete(answered));
    pending.add(answered);
  }
  await Promise.all(pending);
  return EXIT_CODE.ok;
}
