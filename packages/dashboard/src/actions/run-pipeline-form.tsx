import type { PipelineList } from '@sluice/host';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { findAccount } from '../api/server-account.ts';
import { useList } from '../live/use-list.ts';
import { Note } from '../parts/note.tsx';
import { FormDialog } from './form-dialog.tsx';
import { ParamFields, type ParamValues, textOf } from './param-fields.tsx';
import { useActionDialog } from './use-action-dialog.tsx';

/** Runs a pipeline file of the home's project. */
export interface RunPipeline {
  /** Opens the form. */
  readonly open: () => void;
  /** The form and the confirmation that follows it; to be rendered where it stays when the first run appears. */
  readonly dialogs: ComponentChildren;
}

/** The state of the dialogs that run a pipeline file. */
export function useRunPipeline(): RunPipeline {
  const [isFormOpen, setFormOpen] = useState(false);
  const { act, dialog } = useActionDialog();
  const dialogs = (
    <>
      {isFormOpen && (
        <PipelineForm
          onClose={() => setFormOpen(false)}
          onSubmit={(body) => {
            const title = `Run ${body.file.split('/').at(-1)}`;
            act({ path: 'runs', body, title, verb: 'Run', hasForm: true, onDone: () => setFormOpen(false) });
          }}
        />
      )}
      {dialog}
    </>
  );
  return { open: () => setFormOpen(true), dialogs };
}

/** Opens the form. A server has no pipeline files. */
export function RunPipelineButton({ open }: Pick<RunPipeline, 'open'>) {
  if (findAccount(location.href) !== undefined) return null;
  return (
    <button type="button" class="primary" onClick={open}>
      Run a pipeline
    </button>
  );
}

interface PipelineFormProps {
  readonly onSubmit: (body: { file: string; params: Readonly<Record<string, string>> }) => void;
  readonly onClose: () => void;
}

function PipelineForm({ onSubmit, onClose }: PipelineFormProps) {
  const { value, error } = useList<'pipelines', PipelineList['pipelines'][number]>('pipelines', 'pipelines');
  const [file, setFile] = useState<string>();
  const [params, setParams] = useState<ParamValues>(new Map());
  const pipelines = value ?? [];
  const chosen = pipelines.find((one) => one.file === file) ?? pipelines[0];
  const fields = (chosen?.params ?? []).map(({ default: initial, required, ...param }) => ({
    ...param,
    initial: initial === undefined ? (required ? undefined : '') : textOf(initial),
  }));
  const isComplete = fields.every(({ name, initial }) => initial !== undefined || params.has(name));
  return (
    <FormDialog
      title="Run a pipeline"
      isReady={chosen?.pipeline !== undefined && isComplete}
      onClose={onClose}
      onSubmit={() => chosen !== undefined && onSubmit({ file: chosen.file, params: Object.fromEntries(params) })}
    >
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {value !== undefined && chosen === undefined && (
        <p class="soft">There is no pipeline file beside this home, or the server executes no runs.</p>
      )}
      {chosen !== undefined && (
        <div class="fields">
          <div>
            <label for="pipeline-file">File</label>
            <select
              id="pipeline-file"
              value={chosen.file}
              onChange={(event) => {
                setFile(event.currentTarget.value);
                setParams(new Map());
              }}
            >
              {pipelines.map((one) => (
                <option key={one.file} value={one.file}>
                  {one.file.split('/').at(-1)} {one.pipeline === undefined ? '(has errors)' : `(${one.pipeline})`}
                </option>
              ))}
            </select>
            <small class="soft">{chosen.file}</small>
          </div>
        </div>
      )}
      {chosen?.description !== undefined && <p class="soft">{chosen.description}</p>}
      {chosen?.message !== undefined && <Note tone="bad">{chosen.message}</Note>}
      <ParamFields fields={fields} values={params} onChange={setParams} />
    </FormDialog>
  );
}
