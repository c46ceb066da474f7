import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findListeners, readListeners } from '../../src/proxy/read-listeners.ts';

const PORT = 20_001;

/** A table as a kernel of little endian writes it: local address, port, state and inode of each line. */
function table(...rows: (readonly [address: string, port: number, state: string, inode: number])[]): string {
  const lines = rows.map(([address, port, state, inode], i) => {
    const remote = '0'.repeat(address.length);
    const local = `${address}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    return `${String(i).padStart(4)}: ${local} ${remote}:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0`;
  });
  return [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    ...lines,
  ].join('\n');
}

describe('findListeners', () => {
  it('finds those on the port that 127.0.0.1 reaches, and no connection', () => {
    const ipv6 = (last: string) => `0000000000000000FFFF0000${last}`;
    const text = table(
      ['00000000', PORT, '0A', 1],
      ['0100007F', PORT, '0A', 2],
      ['0500000A', PORT, '0A', 3],
      ['00000000', PORT + 1, '0A', 4],
      ['00000000000000000000000000000000', PORT, '0A', 5],
      ['00000000000000000000000001000000', PORT, '0A', 6],
      [ipv6('0100007F'), PORT, '0A', 7],
      ['0100007F', PORT, '01', 8],
    );
    expect(findListeners(text, PORT)).toEqual([1, 2, 5, 7]);
  });
});

describe('readListeners', () => {
  it.each(['127.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1'])('finds one on %s while it listens', async (host) => {
    const server = createServer();
    onTestFinished(() => void server.close());
    await once(server.listen(0, host), 'listening');
    const { port } = server.address() as { port: number };
    const found = readListeners(port);
    expect(found).toEqual([expect.any(Number)]);
    expect(readListeners(port)).toEqual(found);
    await new Promise((resolve) => server.close(resolve));
    expect(readListeners(port)).toEqual([]);
  });
});
