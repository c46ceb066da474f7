import { useState } from 'preact/hooks';
import { ActionDialog, type ActionRequest } from './action-dialog.tsx';

type Action = (request: ActionRequest) => void;

/** The dialog outlives the button that opened it: what was done can remove the button. */
export function useActionDialog() {
  const [request, setRequest] = useState<ActionRequest>();
  const dialog = request !== undefined && <ActionDialog request={request} onClose={() => setRequest(undefined)} />;
  return { act: setRequest as Action, dialog };
}

interface ActionButtonProps {
  readonly request: ActionRequest;
  readonly act: Action;
  readonly children: string;
  readonly isPrimary?: boolean;
}

/** A button that asks before it acts. */
export function ActionButton({ request, act, children, isPrimary = false }: ActionButtonProps) {
  return (
    <button type="button" class={isPrimary ? 'primary' : ''} onClick={() => act(request)}>
      {children}
    </button>
  );
}
