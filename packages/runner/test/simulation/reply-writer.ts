import type { Container } from '@sluice/client';
import type { Random } from '../../../run/test/random.ts';
import type { Dialect } from './dialect.ts';
import type { FaultRates } from './faults.ts';
import { serviceFailure } from './service-failure.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface ReplyWriterOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly dialect: Dialect;
  /** Looked at for each reply, so that faults can be stopped. */
  readonly faults: () => FaultRates;
}

/** A container, with what it was before its last change. */
interface Described {
  readonly wire: Container;
  readonly before?: Container;
}

/** Describes a container as the replies of a service of this dialect do, other than the reply to a create. */
export function createReplyWriter({
  clock,
  random,
  dialect,
  faults,
}: ReplyWriterOptions): (made: Described) => Container {
  /** The current state, or at random the one before the last change. */
  function pickState(made: Described): Container {
    const { stale } = faults();
    return made.before && stale > 0 && random.chance(stale) ? made.before : made.wire;
  }

  /** Throws the error of a client that reads a reply with a wrong type. */
  function checkTypes<T extends Container>(wire: T): T {
    if (!dialect.writesWrongTypes || wire.phase !== 'Running') return wire;
    throw serviceFailure('INVALID_REPLY', `could not get container ${wire.id}: nodeID is no text`, 200);
  }

  /** A container as replies other than the one to create write it. */
  function write(wire: Container): Container {
    const { labels, ...unlabeled } = wire;
    const shown: Container = dialect.hidesLabels || !labels ? unlabeled : wire;
    return wire.createTime === undefined ? shown : { ...shown, createTime: writeTime(Date.parse(wire.createTime)) };
  }

  function writeTime(at: number): string {
    const local = () => new Date(at + 8 * 3_600_000).toISOString().slice(0, 19);
    switch (dialect.times) {
      case 'rounded':
        return `${new Date(Math.round(at / 1000) * 1000).toISOString().slice(0, 19)}Z`;
      case 'zoneless':
        return local();
      case 'drifting':
        // Half a minute to either side, another one every second.
        return new Date(at + ((Math.floor(clock.now() / 1000) % 7) - 3) * 10_000).toISOString();
      case 'exact':
        return dialect.mixedTimes ? `${local()}+08:00` : new Date(at).toISOString();
    }
  }

  return (made) => checkTypes(write(pickState(made)));
}
