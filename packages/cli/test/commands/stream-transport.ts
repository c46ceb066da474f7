import { PassThrough } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { TestContext } from '../recording-terminal.ts';

/** Connects the client of the SDK to a server in this process, which reads `input` and writes to its terminal. */
export interface StreamTransport extends Transport {
  readonly input: PassThrough;
  /** To be used by the server. */
  readonly context: TestContext;
}

export function createStreamTransport(context: TestContext): StreamTransport {
  const input = new PassThrough();
  const transport: StreamTransport = {
    input,
    context: {
      ...context,
      terminal: {
        ...context.terminal,
        out: (text) => {
          for (const line of text.split('\n').slice(0, -1)) transport.onmessage?.(JSON.parse(line));
        },
      },
    },
    start: async () => {},
    send: async (message) => void input.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}
