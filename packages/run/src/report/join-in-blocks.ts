const BLOCK_CHARACTERS = 64 * 1024;

/** Joins the parts of a text into larger ones, since each is written by itself. The whole text is never in memory. */
export function* joinInBlocks(parts: Iterable<string>): Generator<string> {
  let block = '';
  for (const part of parts) {
    block += part;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield block;
    block = '';
  }
  if (block !== '') yield block;
}
