/** A file of an archive. Its name has at most 100 bytes. */
export interface ArchiveFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const BLOCK = 512;
const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** Files as a tar archive in the format ustar, readable only by their owner. `at` is in milliseconds since the epoch. */
export function packTar(files: readonly ArchiveFile[], at: number): Buffer {
  const parts = files.flatMap(({ name, bytes }) => [
    createHeader(name, { size: bytes.length, seconds: Math.floor(at / 1000) }),
    bytes,
    Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function createHeader(name: string, { size, seconds }: { readonly size: number; readonly seconds: number }): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`the name ${name} is too long for an archive`);
  const header = Buffer.alloc(BLOCK);
  const fields: readonly (readonly [offset: number, text: string])[] = [
    [0, name],
    [100, octal(0o600, 8)],
    [108, octal(0, 8)],
    [116, octal(0, 8)],
    [124, octal(size, 12)],
    [136, octal(seconds, 12)],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\0'],
    [263, '00'],
  ];
  for (const [offset, text] of fields) header.write(text, offset, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
