import { bytesToName, nameToBytes } from '@sluice/client';

/** Packet types of SFTP version 3 that clients send. */
export const REQUEST = {
  INIT: 1,
  OPEN: 3,
  CLOSE: 4,
  READ: 5,
  WRITE: 6,
  LSTAT: 7,
  FSTAT: 8,
  SETSTAT: 9,
  FSETSTAT: 10,
  OPENDIR: 11,
  READDIR: 12,
  REMOVE: 13,
  MKDIR: 14,
  RMDIR: 15,
  REALPATH: 16,
  STAT: 17,
  RENAME: 18,
  READLINK: 19,
  SYMLINK: 20,
  EXTENDED: 200,
} as const;

const RESPONSE = {
  VERSION: 2,
  STATUS: 101,
  HANDLE: 102,
  DATA: 103,
  NAME: 104,
  ATTRS: 105,
  EXTENDED_REPLY: 201,
} as const;

/** Status codes of SFTP version 3. */
export const STATUS = {
  OK: 0,
  EOF: 1,
  NO_SUCH_FILE: 2,
  PERMISSION_DENIED: 3,
  FAILURE: 4,
  BAD_MESSAGE: 5,
  OP_UNSUPPORTED: 8,
} as const;

/** Bytes before the data of a DATA packet: length, type, request, length of the data. */
export const DATA_HEADER_BYTES = 13;

/** Thrown by a reader that meets the end too early. */
export class MalformedPacket extends Error {
  override readonly name = 'MalformedPacket';
}

/** Reads the fields of one packet in their order. */
export interface PacketReader {
  u8(): number;
  u32(): number;
  /** Throws above 2^53 - 1: no file is that long. */
  u64(): number;
  bytes(): Buffer;
  /** A name or path; bytes that are no UTF-8 as `bytesToName` has them. */
  text(): string;
}

export function createPacketReader(packet: Buffer): PacketReader {
  let at = 0;
  const take = (length: number): number => {
    if (at + length > packet.length) throw new MalformedPacket('the packet is too short');
    at += length;
    return at - length;
  };
  const u32 = () => packet.readUInt32BE(take(4));
  const bytes = () => {
    const length = u32();
    const start = take(length);
    return packet.subarray(start, start + length);
  };
  return {
    u8: () => packet.readUInt8(take(1)),
    u32,
    u64: () => {
      const value = Number(packet.readBigUInt64BE(take(8)));
      if (!Number.isSafeInteger(value)) throw new MalformedPacket('a number is too large');
      return value;
    },
    bytes,
    text: () => bytesToName(bytes()),
  };
}

/** A field of a reply: a number is 32 bits, a bigint 64; text and bytes carry their length before them. */
export type Field = number | bigint | string | Uint8Array | { readonly raw: Uint8Array };

function encode(type: number, fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0, 0, 0, 0, type])];
  for (const field of fields) parts.push(...encodeField(field));
  const packet = Buffer.concat(parts);
  packet.writeUInt32BE(packet.length - 4, 0);
  return packet;
}

function encodeField(field: Field): Uint8Array[] {
  if (typeof field === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(field >>> 0);
    return [bytes];
  }
  if (typeof field === 'bigint') {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(field);
    return [bytes];
  }
  if (typeof field === 'object' && 'raw' in field) return [field.raw];
  const bytes = typeof field === 'string' ? nameToBytes(field) : field;
  return [...encodeField(bytes.length), bytes];
}

/** Fields one after the other, without a packet around them. */
export function encodeFields(...fields: Field[]): { readonly raw: Uint8Array } {
  return { raw: Buffer.concat(fields.flatMap(encodeField)) };
}

export function versionPacket(extensions: Readonly<Record<string, string>>): Buffer {
  return encode(RESPONSE.VERSION, [3, ...Object.entries(extensions).flat()]);
}

export function statusPacket(request: number, code: number, message = ''): Buffer {
  return encode(RESPONSE.STATUS, [request, code, message, '']);
}

export function handlePacket(request: number, handle: Uint8Array): Buffer {
  return encode(RESPONSE.HANDLE, [request, handle]);
}

export function namePacket(request: number, names: readonly { raw: Uint8Array }[]): Buffer {
  return encode(RESPONSE.NAME, [request, names.length, ...names]);
}

export function attributesPacket(request: number, attributes: { raw: Uint8Array }): Buffer {
  return encode(RESPONSE.ATTRS, [request, attributes]);
}

export function extendedPacket(request: number, ...fields: Field[]): Buffer {
  return encode(RESPONSE.EXTENDED_REPLY, [request, ...fields]);
}

/** Makes a DATA packet of a buffer whose first `DATA_HEADER_BYTES` were left free, and which holds `length` bytes after. */
export function dataPacket(request: number, buffer: Buffer, length: number): Buffer {
  buffer.writeUInt32BE(length + DATA_HEADER_BYTES - 4, 0);
  buffer.writeUInt8(RESPONSE.DATA, 4);
  buffer.writeUInt32BE(request, 5);
  buffer.writeUInt32BE(length, 9);
  return buffer.subarray(0, DATA_HEADER_BYTES + length);
}
