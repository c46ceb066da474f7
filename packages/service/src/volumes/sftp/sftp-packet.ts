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

/** Length of the header of a DATA packet: length, type, request, length of the data. */
export const DATA_HEADER_BYTES = 13;

/** The client violated the protocol, for example with a packet that is too short. */
export class MalformedPacket extends Error {
  override readonly name = 'MalformedPacket';
}

/** Reads the fields of one packet in order. All methods throw `MalformedPacket` at the end of the packet. */
export interface PacketReader {
  u8(): number;
  u32(): number;
  /** Throws above 2^53 - 1; no file is that long. */
  u64(): number;
  bytes(): Buffer;
  /** A name or path; invalid UTF-8 is represented as by `bytesToName`. */
  text(): string;
}

/** Reads from the start of `packet`, which begins with the type. */
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

/** A field of a response: numbers have 32 bits, bigints 64; strings and bytes are prefixed with their length. */
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

/** Encodes fields without a packet around them. */
export function encodeFields(...fields: Field[]): { readonly raw: Uint8Array } {
  return { raw: Buffer.concat(fields.flatMap(encodeField)) };
}

/** VERSION: the response to INIT, with names and versions of extensions. */
export function versionPacket(extensions: Readonly<Record<string, string>>): Buffer {
  return encode(RESPONSE.VERSION, [3, ...Object.entries(extensions).flat()]);
}

/** STATUS, with a message for the user and an empty language tag. */
export function statusPacket(request: number, code: number, message = ''): Buffer {
  return encode(RESPONSE.STATUS, [request, code, message, '']);
}

/** HANDLE: the response to OPEN and OPENDIR. */
export function handlePacket(request: number, handle: Uint8Array): Buffer {
  return encode(RESPONSE.HANDLE, [request, handle]);
}

/** NAME: entries that were encoded by `encodeName` or `encodeBareName`. */
export function namePacket(request: number, names: readonly { raw: Uint8Array }[]): Buffer {
  return encode(RESPONSE.NAME, [request, names.length, ...names]);
}

/** ATTRS that were encoded by `encodeAttributes`. */
export function attributesPacket(request: number, attributes: { raw: Uint8Array }): Buffer {
  return encode(RESPONSE.ATTRS, [request, attributes]);
}

/** EXTENDED_REPLY: the fields depend on the extension. */
export function extendedPacket(request: number, ...fields: Field[]): Buffer {
  return encode(RESPONSE.EXTENDED_REPLY, [request, ...fields]);
}

/** Completes a DATA packet in place: `buffer` has `DATA_HEADER_BYTES` unused bytes followed by `length` bytes of data. */
export function dataPacket(request: number, buffer: Buffer, length: number): Buffer {
  buffer.writeUInt32BE(length + DATA_HEADER_BYTES - 4, 0);
  buffer.writeUInt8(RESPONSE.DATA, 4);
  buffer.writeUInt32BE(request, 5);
  buffer.writeUInt32BE(length, 9);
  return buffer.subarray(0, DATA_HEADER_BYTES + length);
}
