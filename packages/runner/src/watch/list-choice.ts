/** What is asked for to learn of an account's containers: the list of what runs, the list of everything, or each by itself. */
export type Question = 'live' | 'all' | 'single';

/** What a list brought. */
export interface ListYield {
  /** Items that were read. */
  readonly items: number;
  /** Containers of ours that are not over. */
  readonly wanted: number;
  /** Of these, listed with a phase other than Running, which some services leave out of the list of what runs. */
  readonly beyondRunning: number;
  /** Of these, not listed, and alive all the same, as asking for each has shown. */
  readonly missed: number;
}

/** Chooses the cheapest question that a service answers, from what its lists have brought so far. */
export interface ListChoice {
  next(): Question;
  listed(seen: ListYield): void;
  /** The list failed. Returns whether to ask for each container at once. */
  failed(isThrottled: boolean): boolean;
  /** After a failed list, asking for each has worked. Returns whether the list has now failed for so long that people should know. */
  managedAlone(): boolean;
}

/** A list may lag behind, or fail once. */
const FEW = 3;
/** A list without what was looked for is tried again ever more rarely, up to this number of polls. */
const RAREST = 64;
/** A service that throttles is not asked for each container, unless it throttles every list. */
const THROTTLED_OFTEN = 5;
/** Items per page that every service gives. */
const PAGE = 100;

export function createListChoice(): ListChoice {
  let isAll = false;
  /** Lists in a row without containers that are alive. */
  let poorLists = 0;
  let patience = FEW;
  let throttled = 0;
  /** Lists in a row that failed while the service answered for each container. */
  let failures = 0;
  /** Polls without a list that are left. */
  let skips = 0;

  function judgeLive({ missed }: ListYield): void {
    // One more request is no more than another page.
    poorLists = missed > 1 ? poorLists + 1 : 0;
    if (poorLists < patience) return;
    poorLists = 0;
    isAll = true;
  }

  /** The list of everything may hold a week of other runs. */
  function judgeAll({ items, wanted, beyondRunning }: ListYield): void {
    if (Math.ceil(items / PAGE) <= Math.ceil(wanted / PAGE) + beyondRunning) return;
    isAll = false;
    patience = Math.min(patience * 2, RAREST);
  }

  return {
    next() {
      if (skips === 0) return isAll ? 'all' : 'live';
      skips--;
      return 'single';
    },
    listed(seen) {
      throttled = 0;
      failures = 0;
      if (isAll) judgeAll(seen);
      else judgeLive(seen);
    },
    failed(isThrottled) {
      throttled = isThrottled ? throttled + 1 : 0;
      return !isThrottled || throttled >= THROTTLED_OFTEN;
    },
    managedAlone() {
      failures++;
      if (failures >= FEW) skips = Math.min(2 ** (failures - FEW), RAREST);
      return failures === FEW;
    },
  };
}
