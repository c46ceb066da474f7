import { orderColumns } from './order-columns.ts';
import { distance, meanOf, type Slot, stack } from './slot.ts';

const STRAIGHTENINGS = 6;

/** Orders each column so that few edges cross, and moves the slots toward their neighbors, so that edges become straight. */
export function placeColumns(columns: number[][], slots: readonly Slot[]): void {
  orderColumns(columns, slots);
  for (const column of columns) stack(column, slots);
  for (let pass = 0; pass < STRAIGHTENINGS; pass++) {
    const isForward = pass % 2 === 0;
    for (const column of isForward ? columns : columns.toReversed())
      straighten(column, slots, isForward ? 'before' : 'after');
  }
}

/**
 * Moves each slot as near to its neighbors as the order and the distances of the column allow: slots that would overlap form
 * a block, which takes the mean of what its members want (isotonic regression by pooling adjacent violators).
 */
function straighten(column: readonly number[], slots: readonly Slot[], side: 'before' | 'after'): void {
  const blocks: { sum: number; members: number[] }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  column.forEach((index, place) => {
    const slot = slots[index]!;
    if (place > 0) offset += distance(slots[column[place - 1]!]!, slot);
    offsets.push(offset);
    const hasSide = slot[side].length > 0;
    let block = { sum: meanOf(slot, slots, hasSide ? [side] : ['before', 'after']) - offset, members: [place] };
    for (
      let last = blocks.at(-1);
      last && last.sum / last.members.length > block.sum / block.members.length;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      // Appended to the longer list: a column of thousands of slots can become one block.
      last.members.push(...block.members);
      block = { sum: last.sum + block.sum, members: last.members };
    }
    blocks.push(block);
  });
  for (const { sum, members } of blocks)
    for (const place of members) slots[column[place]!]!.y = sum / members.length + offsets[place]!;
}
