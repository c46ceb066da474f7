import type { RunList } from '@sluice/host';
import { replaceQuery } from '../live/route.ts';
import { useReply } from '../live/use-reply.ts';
import { beganAt } from '../model/began-at.ts';
import { timeWords } from '../parts/time-words.ts';

interface OtherRunProps {
  readonly runId: string;
  readonly pipeline: string;
  /** The ID of the chosen run. */
  readonly other: string | undefined;
  /** The words for no choice. */
  readonly none: string;
  /** Of the choice in the query of the URL. */
  readonly name: string;
}

/** The choice of another run of the pipeline, to compare with. */
export function OtherRun({ runId, pipeline, other, none, name }: OtherRunProps) {
  const { value } = useReply<RunList>('runs', { pipeline, pageSize: 50 });
  const others = (value?.runs ?? []).filter((run) => run.runId !== runId);
  return (
    <label>
      with run{' '}
      <select value={other ?? ''} onChange={(event) => replaceQuery({ [name]: event.currentTarget.value })}>
        <option value="">{none}</option>
        {others.map((run) => (
          <option key={run.runId} value={run.runId}>
            {`${timeWords(beganAt(run))} ${run.status} ${run.runId}`}
          </option>
        ))}
      </select>
    </label>
  );
}
