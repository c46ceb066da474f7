import type { ActionName, RunDetails } from '@sluice/host';
import { useState } from 'preact/hooks';
import type { ActionRequest } from './action-dialog.tsx';
import { RerunForm } from './rerun-form.tsx';
import { ActionButton, useActionDialog } from './use-action-dialog.tsx';

/** The buttons for what can be done with a run in its present status. */
export function RunActions({ runId, status }: { runId: string; status: RunDetails['status'] }) {
  const isEnded = status !== 'running' && status !== 'suspended' && status !== 'waiting';
  const rerun = { path: pathOf(runId, 'rerun'), title: `Rerun ${runId}`, verb: 'Rerun', rerunOf: runId } as const;
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
          onSubmit={(body) => act({ ...rerun, body, hasForm: true, onDone: () => setFormOpen(false) })}
        />
      )}
      {dialog}
    </div>
  );
}

interface ApprovalActionsProps {
  readonly runId: string;
  /** `STEP` or `STEP/CELL`. */
  readonly name: string;
  readonly act: (request: ActionRequest) => void;
}

/** The answers to an approval. The dialog is that of a component that stays when the approval is answered. */
export function ApprovalActions({ runId, name, act }: ApprovalActionsProps) {
  const body = { step: name };
  return (
    <div class="buttons">
      <ActionButton
        act={act}
        request={{ path: pathOf(runId, 'approve'), body, title: `Approve ${name}`, verb: 'Approve' }}
        isPrimary
      >
        Approve
      </ActionButton>
      <ActionButton
        act={act}
        request={{ path: pathOf(runId, 'reject'), body, title: `Reject ${name}`, verb: 'Reject' }}
      >
        Reject
      </ActionButton>
    </div>
  );
}

/** The buttons for what can be done with a step of a run. */
export function StepActions({ runId, status, step }: StepActionsProps) {
  const isEnded = status !== 'running' && status !== 'suspended' && status !== 'waiting';
  const { act, dialog } = useActionDialog();
  return (
    <div class="buttons">
      {isEnded && (
        <ActionButton
          act={act}
          request={{
            ...{ path: pathOf(runId, 'rerun'), body: { from: [step] }, rerunOf: runId },
            ...{ title: `Rerun from ${step}`, verb: 'Rerun' },
          }}
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
}

function pathOf(runId: string, action: ActionName): string {
  return `runs/${encodeURIComponent(runId)}:${action}`;
}
