import type { Followers } from '../runs/open-followers.ts';
import type { RunList } from '../runs/run-list.ts';
import { createListFeed, type ListFeed } from './list-feed.ts';
import { createRunFeed, type RunFeed } from './run-feed.ts';

/** The feeds that clients use now. */
export interface Feeds {
  readonly list: ListFeed;
  /** The feed of a run, until `release`. Throws `ApiError` if the run cannot be read. */
  use(runId: string): Promise<{ readonly feed: RunFeed; release(): void }>;
}

interface Entry {
  readonly opening: Promise<{ readonly feed: RunFeed; release(): void }>;
  users: number;
}

/** One feed for each run that clients follow. */
export function openFeeds(followers: Followers, list: RunList): Feeds {
  const entries = new Map<string, Entry>();

  async function open(runId: string) {
    const { run, release } = await followers.use(runId);
    return { feed: createRunFeed(run), release };
  }

  return {
    list: createListFeed(list),
    async use(runId) {
      let entry = entries.get(runId);
      if (entry === undefined) {
        entry = { opening: open(runId), users: 0 };
        entries.set(runId, entry);
        entry.opening.catch(() => entries.delete(runId));
      }
      const used = entry;
      used.users++;
      const { feed, release } = await used.opening;
      return {
        feed,
        release() {
          if (--used.users > 0) return;
          entries.delete(runId);
          release();
        },
      };
    },
  };
}
