import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface FormDialogProps {
  readonly title: string;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Whether it can be submitted. */
  readonly isReady: boolean;
  readonly children: ComponentChildren;
}

/** A dialog with the values of an action, which is shown before it is done. */
export function FormDialog({ title, onSubmit, onClose, isReady, children }: FormDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="form-title" onClose={onClose}>
      <h2 id="form-title">{title}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
        <div class="buttons">
          <button type="submit" class="primary" disabled={!isReady}>
            Show what would happen
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Do nothing
          </button>
        </div>
      </form>
    </dialog>
  );
}
