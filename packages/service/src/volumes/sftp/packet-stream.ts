import { MalformedPacket } from './sftp-packet.ts';

/** The same limit as in OpenSSH. */
export const MAX_PACKET_BYTES = 256 * 1024;

/**
 * Splits a stream of bytes into packets, without their length fields. Throws `MalformedPacket` for one that is empty or too
 * long.
 */
export async function* readPackets(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  let wanted = 4;
  for await (const chunk of source) {
    pending.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending, size);
      const length = bytes.readUInt32BE(0);
      if (length === 0 || length > MAX_PACKET_BYTES) throw new MalformedPacket(`a packet has ${length} bytes`);
      wanted = 4 + length;
      if (size < wanted) {
        pending = [bytes];
        break;
      }
      yield bytes.subarray(4, wanted);
      size -= wanted;
      pending = size === 0 ? [] : [bytes.subarray(wanted)];
      wanted = 4;
    }
  }
}
