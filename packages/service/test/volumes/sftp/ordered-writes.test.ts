import { constants, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openChargedFile } from '../../../src/volumes/files/charged-file.ts';
import { openConfinedTree } from '../../../src/volumes/files/confined-tree.ts';
import { OrderedWrites } from '../../../src/volumes/sftp/ordered-writes.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

function open(directory: string, flags = constants.O_WRONLY | constants.O_CREAT) {
  return openChargedFile(openConfinedTree(directory), { path: 'file', flags });
}

describe('OrderedWrites', () => {
  const write = fc.record({
    offset: fc.nat({ max: 300_000 }),
    length: fc.nat({ max: 100_000 }),
    adjacent: fc.boolean(),
  });
  it('leave what one after the other leaves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 30 }), async (all) => {
        const directory = temporaryDirectory();
        const path = join(directory, 'file');
        const file = open(directory);
        const writes = new OrderedWrites(file);
        let expected = Buffer.alloc(0);
        let end = 0;
        const done: Promise<void>[] = [];
        for (const [index, { offset, length, adjacent }] of all.entries()) {
          const at = adjacent ? end : offset;
          const bytes = Buffer.alloc(length, index + 1);
          end = at + length;
          if (length > 0 && expected.length < end)
            expected = Buffer.concat([expected, Buffer.alloc(end - expected.length)]);
          bytes.copy(expected, at);
          done.push(writes.write(bytes, at));
        }
        await Promise.all(done);
        await file.close();
        expect(readFileSync(path).equals(expected)).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('never begin one before the last is on its way, so that what is there has no hole', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'file');
    const file = open(directory);
    const writes = new OrderedWrites(file);
    const block = Buffer.alloc(100_000, 'x');
    let seen = 0;
    const done = Array.from({ length: 200 }, (_, index) =>
      writes.write(block, index * block.length).then(() => {
        const there = readFileSync(path);
        expect(there.includes(0)).toBe(false);
        expect(there.length).toBeGreaterThanOrEqual((index + 1) * block.length);
        seen++;
      }),
    );
    await Promise.all(done.slice(-1));
    expect(seen).toBe(200);
    await file.close();
  });

  it('tell each of a failure, and go on', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'file'), '');
    const writes = new OrderedWrites(open(directory, constants.O_RDONLY));
    const outcomes = await Promise.allSettled([0, 1, 2].map((at) => writes.write(Buffer.from('x'), at)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
