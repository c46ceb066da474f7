import type { ApprovalList } from '@sluice/host';
import type { ActionRequest } from '../actions/action-dialog.tsx';
import { ApprovalActions } from '../actions/run-actions.tsx';
import { linkTo } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { cellLabel } from '../model/cell-label.ts';
import { Note } from '../parts/note.tsx';
import { Time } from '../parts/time.tsx';

type Approval = ApprovalList['approvals'][number];
type Previous = NonNullable<Approval['previous']>;

interface OpenApprovalsProps {
  readonly runId: string;
  /** Only of this step. */
  readonly step?: string;
  /** Only of this cell. */
  readonly cellIndex?: number;
  /** Changes when other approvals may be open. */
  readonly version: unknown;
  readonly act: (request: ActionRequest) => void;
  /** Without what has changed. */
  readonly isShort?: boolean;
}

/** The approvals of a run that wait for an answer: what is asked, what it releases and what has changed; and the answers. */
export function OpenApprovals({ runId, step, cellIndex, version, act, isShort = false }: OpenApprovalsProps) {
  const { value, error } = useReply<ApprovalList>(`runs/${encodeURIComponent(runId)}/approvals`, {}, version);
  const shown = value?.approvals.filter(
    (one) => (step ?? one.step) === one.step && (cellIndex ?? one.cellIndex) === one.cellIndex,
  );
  if (error !== undefined) return <Note tone="bad">{error}</Note>;
  return (
    <>
      {shown?.map((approval) => (
        <section
          key={`${approval.step} ${approval.cell}`}
          class="panel approval"
          aria-label={`Approval ${cellLabel(approval)}`}
        >
          <div>
            <p class="question">{approval.message}</p>
            <p class="soft">
              <a href={linkTo(['runs', runId, 'steps', approval.step, 'cells', String(approval.cellIndex)])}>
                {cellLabel(approval)}
              </a>
              {` releases ${approval.releases.length === 0 ? 'no other step' : approval.releases.join(', ')}`}
            </p>
            {!isShort && <Changes previous={approval.previous} />}
          </div>
          <ApprovalActions runId={runId} name={cellLabel(approval)} act={act} />
        </section>
      ))}
    </>
  );
}

function Changes({ previous }: { previous: Previous | undefined }) {
  if (previous === undefined) return <p class="soft">It was approved in none of the last 10 runs.</p>;
  const { runId, answeredAt, changes, changeCount } = previous;
  const last = (
    <>
      since it was approved in run{' '}
      <a class="id" href={linkTo(['runs', runId])}>
        {runId}
      </a>{' '}
      at <Time at={answeredAt} />
    </>
  );
  if (changeCount === 0) return <p class="soft">Nothing has changed {last}.</p>;
  return (
    <details open={changeCount <= 5}>
      <summary>
        {changeCount === 1 ? 'One change' : `${changeCount} changes`} {last}
      </summary>
      <table class="changes">
        <thead>
          <tr>
            <th>What</th>
            <th>Then</th>
            <th>Now</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ kind, name, before, after }) => (
            <tr key={`${kind} ${name}`}>
              <td>{`${KINDS[kind]} ${name}`}</td>
              <td>{kind === 'volume' ? 'other content' : (before ?? '–')}</td>
              <td>{kind === 'volume' ? '' : (after ?? '–')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length < changeCount && <p class="soft">{`And ${changeCount - changes.length} more.`}</p>}
    </details>
  );
}

const KINDS: Readonly<Record<Previous['changes'][number]['kind'], string>> = {
  param: 'parameter',
  step: 'step',
  volume: 'volume',
  result: 'result',
};
