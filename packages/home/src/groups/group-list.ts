import { z } from 'zod';
import { changeVersioned, type HomePlace, readVersioned, type VersionedFile } from '../journal/versioned-file.ts';

const entrySchema = z.object({
  group: z.string(),
  runId: z.string(),
  /** `in`: it has a place in the group until it ends; `waiting`: it is in the queue. */
  state: z.enum(['in', 'waiting']),
  /** Incremented each time the run is resumed, so that others judge it again. */
  turn: z.number().int(),
  /** It has its place and has never opened its journal. */
  isOpening: z.literal(true).optional(),
});
const listSchema = z.object({ format: z.literal(1), entries: z.array(entrySchema) });

/** A run in a concurrency group, or in its queue. */
export type GroupEntry = z.infer<typeof entrySchema>;

const FILE: VersionedFile<z.infer<typeof listSchema>> = {
  name: 'groups',
  schema: listSchema,
  first: { format: 1, entries: [] },
};

/** The entries of one group, in the order in which they entered. */
export async function readGroup(place: Pick<HomePlace, 'disk' | 'home'>, group: string): Promise<GroupEntry[]> {
  return (await readVersioned(FILE, place)).entries.filter((entry) => entry.group === group);
}

/** Replaces the entries of a group if they still equal `from`. False: they have changed, and nothing was written. */
export async function replaceGroup(
  place: HomePlace,
  group: string,
  { from, to }: { readonly from: readonly GroupEntry[]; readonly to: readonly GroupEntry[] },
): Promise<boolean> {
  return changeVersioned(FILE, place, (content) => {
    const now = content.entries.filter((entry) => entry.group === group);
    if (JSON.stringify(now) !== JSON.stringify(from)) return { content, answer: false };
    if (JSON.stringify(to) === JSON.stringify(from)) return { content, answer: true };
    const others = content.entries.filter((entry) => entry.group !== group);
    return { content: { format: 1 as const, entries: [...others, ...to] }, answer: true };
  });
}
