import type { RunDetails } from '@sluice/host';
import { summarizeCounts } from '@sluice/run';
import { StepActions } from '../actions/run-actions.tsx';
import type { LiveRun } from '../live/open-run.ts';
import { useEscape } from '../live/use-escape.ts';
import { countsOf, type RunModel } from '../model/run-model.ts';
import { STATUSES } from '../model/statuses.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { CountBar, countWords } from '../parts/count-bar.tsx';
import { StatusMark } from '../parts/status-mark.tsx';
import { NOT_BEGUN, tookWords } from '../parts/time-words.ts';
import type { Selection } from '../parts/timeline-row.tsx';
import { linkToSelection, soleCell } from './link-to-selection.ts';

interface SelectedProps {
  readonly run: LiveRun;
  readonly details: RunDetails;
  readonly model: RunModel;
  readonly selection: Selection;
  readonly times: { readonly startedAt: number; readonly now: number };
  readonly isExpanded: boolean;
  readonly onToggle: () => void;
  /** Folds its group; undefined if it has none. */
  readonly onFold: (() => void) | undefined;
  readonly onClose: () => void;
}

/** The selected step in short, with its actions and the link to all about it. */
export function SelectedStep(props: SelectedProps) {
  const { run, details, model, selection, times } = props;
  const { step, cell } = selection;
  const { steps } = details.plan;
  const { step: name, description, dependencies, image, kind, group } = steps[step]!;
  const counts = countsOf(model, step);
  const cells = model.cells[step]!;
  const code = cell === undefined ? summarizeCounts(counts) : (cells[cell] ?? 0);
  const took = cell === undefined || cells.length === 1 ? tookWords(details.steps[step]!, times.now) : NOT_BEGUN;
  const opened = { step, cell: cell ?? soleCell(model, step) };
  useEscape(props.onClose);
  return (
    <section class="panel selected" aria-label="Selected step">
      <header>
        <h2>
          {name}
          {cell === undefined ? '' : ` / ${run.names.nameOf(step, cell)}`}
        </h2>
        <button type="button" aria-label="Clear the selection" onClick={props.onClose}>
          ✕
        </button>
      </header>
      <div>
        <p>
          <StatusMark code={code} />
          {took !== NOT_BEGUN && <span class="soft"> took {took}</span>}
        </p>
        {description !== undefined && <p>{description}</p>}
        <p class="soft">
          <span>{kind === 'container' ? image : kind}</span>
          {image?.includes('@') === true && <CopyButton text={image} what="the image" />}
        </p>
        {dependencies.length > 0 && (
          <p class="soft">{`after ${dependencies.map((on) => steps[on]!.step).join(', ')}`}</p>
        )}
        {cells.length > 1 && cell === undefined && (
          <p class="soft">
            <CountBar counts={counts} /> {countWords(counts)}
          </p>
        )}
      </div>
      <div class="buttons">
        <a class="button" href={linkToSelection(run.runId, steps, opened)}>
          {STATUSES[code]!.status === 'failed' ? 'Why and log' : 'Open'}
        </a>
        {cells.length > 1 && (
          <button type="button" aria-pressed={props.isExpanded} onClick={props.onToggle}>
            {props.isExpanded ? 'Hide cells' : 'Show cells'}
          </button>
        )}
        {props.onFold !== undefined && <button type="button" onClick={props.onFold}>{`Fold ${group}`}</button>}
        <StepActions runId={run.runId} status={run.status ?? details.status} step={name} />
      </div>
    </section>
  );
}
