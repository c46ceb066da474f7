import type { StepDifference } from '@sluice/run';
import { useReply } from '../live/use-reply.ts';
import { Note } from '../parts/note.tsx';
import { DifferenceTree } from './difference-tree.tsx';
import { OtherRun } from './other-run.tsx';

interface WhyDifferentProps {
  readonly runId: string;
  readonly pipeline: string;
  readonly step: string;
  /** Absent: all cells of the step. */
  readonly cellIndex?: number;
  /** The ID of the run to compare with; undefined: the previous run that has the step. */
  readonly other: string | undefined;
  /** Changes when the step has changed. */
  readonly version: unknown;
}

/** Why a step or a cell differs from that of another run, with the choice of this run. */
export function WhyDifferent({ runId, pipeline, step, cellIndex, other, version }: WhyDifferentProps) {
  return (
    <section class="panel" aria-labelledby="why-different">
      <div class="panel-head">
        <h2 id="why-different">Why is this different?</h2>
        <OtherRun runId={runId} pipeline={pipeline} other={other} none="the previous one" name="against" />
      </div>
      <LoadedDifference {...{ runId, step, cellIndex, other, version }} hasAnswer />
    </section>
  );
}

interface LoadedProps extends Pick<WhyDifferentProps, 'runId' | 'step' | 'other' | 'version'> {
  readonly cellIndex?: number | undefined;
  readonly hasAnswer: boolean;
}

/** All differences of one step or cell. */
export function LoadedDifference({ runId, step, cellIndex, other, version, hasAnswer }: LoadedProps) {
  const path = `runs/${encodeURIComponent(runId)}/difference`;
  const { value, error } = useReply<StepDifference>(path, { step, cellIndex, with: other }, version);
  if (error !== undefined) return <Note tone="bad">{error}</Note>;
  if (value === undefined) return <p class="soft">Comparing…</p>;
  return <DifferenceTree value={value} hasAnswer={hasAnswer} />;
}
