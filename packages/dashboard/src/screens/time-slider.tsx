import { renderDuration } from '@sluice/core';
import { useEffect, useRef, useState } from 'preact/hooks';
import { replaceQuery } from '../live/route.ts';
import { type ChangeHistory, countUntil, type Replay, replayHistory } from '../model/change-history.ts';
import type { RunModel } from '../model/run-model.ts';

/** A time in the past that the run is shown at. */
export interface TimeTravel {
  /** In milliseconds; undefined for the present. */
  readonly at: number | undefined;
  /** The states at that time; undefined for the present. */
  readonly model: RunModel | undefined;
  readonly setAt: (at: number | undefined) => void;
}

interface Times {
  readonly startedAt: number;
  readonly end: number;
}

const STEPS = 1_000;
/** A replay takes this long, whatever the run took. */
const REPLAY_MS = 12_000;

/** Browsers accept few changes of the address each second. */
const ADDRESS_MS = 300;

/**
 * The state of the slider, and the run replayed up to it. The time is kept in the address, as the value `at` of its query
 * (`inAddress`).
 */
export function useTimeTravel(
  history: ChangeHistory | undefined,
  { end }: Times,
  inAddress: string | null,
): TimeTravel {
  const [at, setAt] = useTimeInAddress(inAddress);
  const replay = useRef<{ history: ChangeHistory; replay: Replay }>(undefined);
  if (at === undefined || history === undefined || at >= end) return { at: undefined, model: undefined, setAt };
  const previous = replay.current?.history === history ? replay.current.replay : undefined;
  const next = replayHistory(history, countUntil(history, at), previous);
  replay.current = { history, replay: next };
  return { at, model: next.model, setAt };
}

function useTimeInAddress(inAddress: string | null) {
  const [at, setAt] = useState(() => parseTime(inAddress));
  const written = useRef(inAddress);
  // A link, or an address that the user has changed.
  useEffect(() => {
    if (inAddress !== written.current) setAt(parseTime(inAddress));
    written.current = inAddress;
  }, [inAddress]);
  useEffect(() => {
    const text = at === undefined ? null : new Date(at).toISOString();
    if (text === written.current) return;
    const timer = setTimeout(() => {
      written.current = text;
      replaceQuery({ at: text ?? undefined });
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [at]);
  return [at, setAt] as const;
}

function parseTime(text: string | null): number | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Moves through the history of a run, by hand or as a replay. */
export function TimeSlider({ travel, times, isReady }: { travel: TimeTravel; times: Times; isReady: boolean }) {
  const { startedAt, end } = times;
  const [isPlaying, setPlaying] = useState(false);
  const span = Math.max(1, end - startedAt);
  const at = travel.at ?? end;
  useEffect(() => {
    if (!isPlaying) return;
    let [last, shown, frame] = [performance.now(), travel.at ?? startedAt, 0];
    const advance = (now: number) => {
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
        aria-label={isPlaying ? 'Pause the replay' : 'Replay the run'}
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
