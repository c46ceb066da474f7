import type { ActionBodies, RunDetails } from '@sluice/host';
import { useState } from 'preact/hooks';
import { useReply } from '../live/use-reply.ts';
import { Note } from '../parts/note.tsx';
import { FormDialog } from './form-dialog.tsx';
import { ParamFields, type ParamValues, textOf } from './param-fields.tsx';

interface RerunFormProps {
  readonly runId: string;
  readonly onSubmit: (body: ActionBodies['rerun']) => void;
  readonly onClose: () => void;
}

/** The parameters of an ended run, to be changed for another one. */
export function RerunForm({ runId, onSubmit, onClose }: RerunFormProps) {
  const { value, error } = useReply<RunDetails>(`runs/${encodeURIComponent(runId)}`);
  const [params, setParams] = useState<ParamValues>(new Map());
  const [reuse, setReuse] = useState(true);
  const fields = Object.entries(value?.params ?? {}).map(([name, given]) => ({ name, initial: textOf(given) }));
  return (
    <FormDialog
      title={`Rerun ${runId}`}
      isReady={value !== undefined}
      onClose={onClose}
      onSubmit={() => onSubmit({ all: !reuse, params: Object.fromEntries(params) })}
    >
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value !== undefined && fields.length === 0 && <p class="soft">The pipeline has no parameters.</p>}
      <ParamFields fields={fields} values={params} onChange={setParams} />
      <label class="check">
        <input type="checkbox" checked={reuse} onChange={(event) => setReuse(event.currentTarget.checked)} />
        Reuse what succeeded and has not changed
      </label>
    </FormDialog>
  );
}
