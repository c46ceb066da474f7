import type { Launch, Observation } from '../engine.ts';
import { type Answer, createAnswer } from './answer.ts';

/** A container as the engine follows it. `ended` and `absent` are kept until `remove`, so that nothing is reported twice in vain. */
export interface Followed {
  /** A new one whenever another process is watched for it. */
  id: string;
  readonly launch: Launch;
  state: 'launching' | 'adopting' | 'live' | 'ended';
  isAbsent: boolean;
  stopWanted: boolean;
  killTimer: NodeJS.Timeout | undefined;
  /** All that was reported, for whoever asks again. */
  readonly said: Observation[];
  /** Settles `launch` or `recover`. */
  readonly taken: Answer;
}

/** One that nothing has been said of yet. */
export function createFollowed(from: Pick<Followed, 'id' | 'launch' | 'state'>): Followed {
  return { ...from, isAbsent: false, stopWanted: false, killTimer: undefined, said: [], taken: createAnswer() };
}
