import { renderDuration } from '@sluice/core';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';
import { REDUCED_MOTION, useMedia } from '../live/use-media.ts';
import type { RunModel } from '../model/run-model.ts';
import { POINT_IN_TIME } from '../model/time-format.ts';
import type { RunTimes } from '../model/times-of-run.ts';
import { useModelAt } from './use-model-at.ts';
import { useTimeInAddress } from './use-time-in-address.ts';

/** A time in the past that the run is shown at. */
export interface TimeTravel {
  /** In milliseconds; undefined for the present. */
  readonly at: number | undefined;
  /** The states at that time; undefined for the present. */
  readonly model: RunModel | undefined;
  readonly setAt: (at: number | undefined) => void;
}

const STEPS = 1_000;
/** A replay takes this long, whatever the run took. */
const REPLAY_MS = 12_000;
/** With reduced motion, a replay advances at this interval instead of smoothly. */
const REDUCED_INTERVAL_MS = 500;

/**
 * The state of the slider, and the run replayed up to it. The time is kept in the address, as the value `at` of its query
 * (`inAddress`).
 */
export function useTimeTravel(run: LiveRun, { end }: RunTimes, inAddress: string | null): TimeTravel {
  const [at, setAt] = useTimeInAddress(inAddress, POINT_IN_TIME);
  const past = at === undefined || at >= end ? undefined : at;
  const model = useModelAt(run, past);
  return { at: model && past, model, setAt };
}

interface SliderProps {
  readonly travel: Pick<TimeTravel, 'at' | 'setAt'>;
  readonly times: RunTimes;
  readonly isReady: boolean;
  /** What is replayed, such as `the run`. */
  readonly what: string;
}

/** Moves through the history of a run, by hand or as a replay. */
export function TimeSlider({ travel, times, isReady, what }: SliderProps) {
  const { startedAt, end } = times;
  const [isPlaying, setPlaying] = useState(false);
  const isReduced = useMedia(REDUCED_MOTION);
  const span = Math.max(1, end - startedAt);
  const at = travel.at ?? end;
  // Before the next frame, which would otherwise move a slider that the user has just moved.
  useLayoutEffect(() => {
    if (!isPlaying) return;
    let [last, shown, frame] = [performance.now(), travel.at ?? startedAt, 0];
    const advance = (now: number) => {
      if (isReduced && now - last < REDUCED_INTERVAL_MS) {
        frame = requestAnimationFrame(advance);
        return;
      }
      shown += ((now - last) * span) / REPLAY_MS;
      last = now;
      if (shown >= end) {
        setPlaying(false);
        travel.setAt(undefined);
      } else {
        travel.setAt(shown);
        frame = requestAnimationFrame(advance);
      }
    };
    frame = requestAnimationFrame(advance);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying]);
  const words = travel.at === undefined ? 'latest' : `after ${renderDuration(at - startedAt)}`;
  return (
    <div class="slider">
      <button
        type="button"
        disabled={!isReady}
        aria-label={isPlaying ? 'Pause the replay' : `Replay ${what}`}
        onClick={() => setPlaying(!isPlaying)}
      >
        {isPlaying ? '‖' : '▶'}
      </button>
      <input
        type="range"
        aria-label="Time"
        aria-valuetext={words}
        disabled={!isReady}
        min={0}
        max={STEPS}
        value={Math.round(((at - startedAt) / span) * STEPS)}
        onInput={(event) => {
          setPlaying(false);
          const part = Number(event.currentTarget.value) / STEPS;
          travel.setAt(part >= 1 ? undefined : startedAt + part * span);
        }}
      />
      <output>{words}</output>
    </div>
  );
}
