import { summarizeCounts } from '@sluice/run';
import type { PlanSteps } from '../layout/plan-shape.ts';
import { linkTo } from '../live/route.ts';
import { useEscape } from '../live/use-escape.ts';
import { countsOf } from '../model/run-model.ts';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import type { ShownRun } from './use-shown-run.ts';

interface GroupProps {
  readonly runId: string;
  readonly plan: PlanSteps;
  readonly shownRun: ShownRun;
  /** The index of the shown step that stands for the group. */
  readonly group: number;
  readonly onClose: () => void;
}

/** The selected folded group: its state, and links to its steps. */
export function SelectedGroup({ runId, plan, shownRun, group, onClose }: GroupProps) {
  const { steps, model, folding, toggle } = shownRun;
  const counts = countsOf(model, group);
  useEscape(onClose);
  return (
    <section class="panel selected" aria-label="Selected group">
      <header>
        <h2>{steps[group]!.step}</h2>
        <button type="button" aria-label="Clear the selection" onClick={onClose}>
          ✕
        </button>
      </header>
      <p>
        <StatusMark code={summarizeCounts(counts)} />
      </p>
      <p class="soft">
        <CountBar counts={counts} /> {countWords(counts)}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => toggle(group)}>
          Unfold
        </button>
      </div>
      <ul>
        {folding.view.members[group]!.map((step) => (
          <li key={step}>
            <a href={linkTo(['runs', runId, 'steps', plan[step]!.step])}>{plan[step]!.step}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
