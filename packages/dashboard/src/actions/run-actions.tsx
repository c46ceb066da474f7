import type { ActionName, RunDetails } from '@sluice/host';
import { useState } from 'preact/hooks';
import { RerunForm } from './rerun-form.tsx';
import { ActionButton, useActionDialog } from './use-action-dialog.tsx';

/** The buttons for what can be done with a run in its present status. */
export function RunActions({ runId, status }: { runId: string; status: RunDetails['status'] }) {
  const isEnded = status !== 'running' && status !== 'suspended' && status !== 'waiting';
  const rerun = { path: pathOf(runId, 'rerun'), title: `Rerun ${runId}`, verb: 'Rerun' } as const;
  const { act, dialog } = useActionDialog();
  const [isFormOpen, setFormOpen] = useState(false);
  return (
    <div class="buttons">
      {(status === 'running' || status === 'waiting') && (
        <ActionButton
          act={act}
          request={{ path: pathOf(runId, 'cancel'), body: {}, title: `Cancel ${runId}`, verb: 'Cancel the run' }}
        >
          Cancel
        </ActionButton>
      )}
      {status === 'suspended' && (
        <ActionButton
          act={act}
          request={{ path: pathOf(runId, 'resume'), body: {}, title: `Resume ${runId}`, verb: 'Resume' }}
        >
          Resume
        </ActionButton>
      )}
      {isEnded && status !== 'succeeded' && (
        <ActionButton act={act} request={{ ...rerun, body: {} }}>
          Rerun what failed
        </ActionButton>
      )}
      {isEnded && (
        <ActionButton act={act} request={{ ...rerun, body: { all: true } }}>
          Rerun everything
        </ActionButton>
      )}
      {isEnded && (
        <button type="button" onClick={() => setFormOpen(true)}>
          Rerun with parameters
        </button>
      )}
      {isFormOpen && (
        <RerunForm
          runId={runId}
          onClose={() => setFormOpen(false)}
          onSubmit={(body) => {
            setFormOpen(false);
            act({ ...rerun, body });
          }}
        />
      )}
      {dialog}
    </div>
  );
}

/** The buttons for what can be done with a step of a run. */
export function StepActions({ runId, status, step, isAwaiting }: StepActionsProps) {
  const isEnded = status !== 'running' && status !== 'suspended' && status !== 'waiting';
  const body = { step };
  const { act, dialog } = useActionDialog();
  return (
    <div class="buttons">
      {isAwaiting && (
        <>
          <ActionButton
            act={act}
            request={{ path: pathOf(runId, 'approve'), body, title: `Approve ${step}`, verb: 'Approve' }}
            isPrimary
          >
            Approve
          </ActionButton>
          <ActionButton
            act={act}
            request={{ path: pathOf(runId, 'reject'), body, title: `Reject ${step}`, verb: 'Reject' }}
          >
            Reject
          </ActionButton>
        </>
      )}
      {isEnded && (
        <ActionButton
          act={act}
          request={{ path: pathOf(runId, 'rerun'), body: { from: [step] }, title: `Rerun from ${step}`, verb: 'Rerun' }}
        >
          Rerun from here
        </ActionButton>
      )}
      {dialog}
    </div>
  );
}

/** What decides which buttons a step has. */
export interface StepActionsProps {
  readonly runId: string;
  readonly status: RunDetails['status'];
  readonly step: string;
  readonly isAwaiting: boolean;
}

function pathOf(runId: string, action: ActionName): string {
  return `runs/${encodeURIComponent(runId)}:${action}`;
}
