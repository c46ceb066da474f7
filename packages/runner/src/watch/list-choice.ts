/**
 * What to request to learn the state of an account's containers: the list of running ones, the list of all, or each
 * one.
 */
export type Question = 'live' | 'all' | 'single';

/** What a list contained. */
export interface ListYield {
  /** Items that were read. */
  readonly items: number;
  /** Unfinished containers of the run. */
  readonly wanted: number;
  /** Of these, listed with a phase other than Running, which some services omit from the list of running containers. */
  readonly beyondRunning: number;
  /** Of these, not listed, although single queries have shown that they are alive. */
  readonly missed: number;
}

/** Chooses the cheapest question that a service answers, judged by its lists so far. */
export interface ListChoice {
  next(): Question;
  listed(seen: ListYield): void;
  /** The list failed. Returns whether to query each container now. */
  failed(isThrottled: boolean): boolean;
  /**
   * After a failed list, the single queries have succeeded. Returns whether the list has failed so long that users
   * should know.
   */
  managedAlone(): boolean;
}

/** A list may lag behind, or fail once. */
const FEW = 3;
/** A list that lacks live containers is tried again with growing pauses of at most this number of polls. */
const RAREST = 64;
/** After this many throttled lists in a row, single queries are sent to a throttling service, too. */
const THROTTLED_OFTEN = 5;
/** A page size that every service supports. */
const PAGE = 100;

/** Starts with the list of running containers. */
export function createListChoice(): ListChoice {
  let isAll = false;
  /** Consecutive lists that lacked live containers. */
  let poorLists = 0;
  let patience = FEW;
  let throttled = 0;
  /** Consecutive lists that failed while the service answered single queries. */
  let failures = 0;
  /** Remaining polls without a list. */
  let skips = 0;

  function judgeLive({ missed }: ListYield): void {
    // One missed container costs no more than another page.
    poorLists = missed > 1 ? poorLists + 1 : 0;
    if (poorLists < patience) return;
    poorLists = 0;
    isAll = true;
  }

  /** The list of all may contain a week of other runs. */
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
