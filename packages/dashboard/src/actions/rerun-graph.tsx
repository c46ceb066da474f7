import { renderDuration } from '@sluice/core';
import type { ActionReply, RunDetails } from '@sluice/host';
import { useMemo, useState } from 'preact/hooks';
import { GraphCanvas } from '../draw/graph-canvas.tsx';
import type { PlanSteps } from '../layout/plan-shape.ts';
import { useLayout } from '../layout/use-layout.ts';
import { useReply } from '../live/use-reply.ts';
import { renderCount } from '../model/render-count.ts';
import { createRerunModel, rerunWords } from '../model/rerun-model.ts';
import { codeOf, STATUSES } from '../model/statuses.ts';

interface RerunGraphProps {
  readonly runId: string;
  /** Of the dry run. */
  readonly reply: ActionReply;
}

const [REUSED, SKIPPED, RUN] = [codeOf('succeeded', true), codeOf('skipped'), codeOf('running')];
/** What costs nothing is gray. */
const RECOLORED: ReadonlyMap<number, number> = new Map([[REUSED, SKIPPED]]);
const LEGEND = [
  { code: RUN, tone: 'busy', words: 'to run' },
  { code: REUSED, tone: 'calm', words: 'reused' },
  { code: SKIPPED, tone: 'calm', words: 'skipped' },
] as const;

/** The graph of a run with what a rerun of it would do. */
export function RerunGraph({ runId, reply }: RerunGraphProps) {
  const { value } = useReply<RunDetails>(`runs/${encodeURIComponent(runId)}`);
  return (
    <div class="rerun-graph">
      {value === undefined ? (
        <div class="graph soft">Drawing…</div>
      ) : (
        <DrawnRerun steps={value.plan.steps} reply={reply} />
      )}
      <p class="legend">
        {LEGEND.map(({ code, tone, words }) => (
          <span key={words} class={`status tone-${tone}`}>
            <span class="mark" aria-hidden="true">
              {STATUSES[code]!.mark}
            </span>
            {words}
          </span>
        ))}
      </p>
      <SavedTime reply={reply} />
    </div>
  );
}

const UNEXPANDED: ReadonlyMap<number, number> = new Map();
const NO_STEPS: ReadonlySet<number> = new Set();

function DrawnRerun({ steps, reply }: { steps: PlanSteps; reply: ActionReply }) {
  const view = useMemo(() => ({ steps }), [steps]);
  const drawn = useLayout({ view, key: '' }, UNEXPANDED);
  const { model, shown } = useMemo(() => createRerunModel(steps, reply), [steps, reply]);
  const [selected, setSelected] = useState<number>();
  if (drawn === undefined) return <div class="graph soft">Drawing…</div>;
  const name = selected === undefined ? undefined : steps[selected]!.step;
  return (
    <>
      <GraphCanvas
        {...{ steps, model, shown, selected, drawing: drawn.drawing, ends: drawn.ends, expanded: UNEXPANDED }}
        critical={NO_STEPS}
        recolored={RECOLORED}
        onSelect={setSelected}
        onOpen={setSelected}
        onToggle={() => {}}
        label={`Graph of what the rerun would do, ${name ?? 'nothing'} selected. Arrow keys select along the edges.`}
      />
      <p aria-live="polite">
        {name === undefined ? (
          <span class="soft">Select a step to see why it runs.</span>
        ) : (
          <>
            <b>{name}</b> {rerunWords(name, reply)}
          </>
        )}
      </p>
    </>
  );
}

/** The sum of durations is known, not how much earlier the run ends: steps may run at the same time. */
function SavedTime({ reply: { reusedMs = 0, steps = [] } }: { reply: ActionReply }) {
  const [reused, unmeasured] = steps.reduce(([all, open], one) => [all + one.reused, open + one.unmeasured], [0, 0]);
  if (reused === 0) return <p>Nothing is reused, so no time is saved.</p>;
  const cells = reused === 1 ? '1 reused cell' : `${renderCount(reused)} reused cells`;
  return (
    <p>
      Time saved: about <b>{renderDuration(reusedMs)}</b>{' '}
      <span class="soft">
        (an estimate: the sum of the recorded durations of {cells}, some of which may have run at the same time
        {unmeasured > 0 && `; nothing is recorded of ${renderCount(unmeasured)}`})
      </span>
    </p>
  );
}
