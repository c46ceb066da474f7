import type { Launch, Observation } from '../engine.ts';
import { type Answer, createAnswer } from './answer.ts';

/** A container as the engine follows it. `ended` and `absent` are kept until `remove`, so that nothing is reported twice in vain. */
export interface Followed {
  /** A new one whenever another process is watched for it. */
  id: string;
  readonly launch: Launch;
  /** `live`: the launcher of now watches it. */
  state: 'launching' | 'adopting' | 'live' | 'ended';
  isAbsent: boolean;
  /** When it is to be killed, by a clock that is never set; undefined where no stop is wanted. */
  killAt: number | undefined;
  killTimer: NodeJS.Timeout | undefined;
  /** All that was reported, for whoever asks again. */
  readonly said: Observation[];
  /** Settles `launch` or `recover`. */
  readonly taken: Answer;
}

/** One that nothing has been said of yet. */
export function createFollowed(from: Pick<Followed, 'id' | 'launch' | 'state'>): Followed {
  return { ...from, isAbsent: false, killAt: undefined, killTimer: undefined, said: [], taken: createAnswer() };
}

export function isKnownToRun({ said }: Followed): boolean {
  return said.some(({ type }) => type === 'running');
}
