import { useState } from 'preact/hooks';

interface CopyProps {
  readonly text: string;
  /** What it copies, for a small button; absent: a command. */
  readonly what?: string;
}

/** Copies a text that is shown in the element before the button. */
export function CopyButton({ text, what }: CopyProps) {
  const [state, setState] = useState<'Copy' | 'Copied' | 'Selected'>('Copy');
  const copy = (button: Element) => {
    // A page of a server without TLS cannot write to the clipboard; the user can.
    const select = () => {
      if (button.previousElementSibling) getSelection()?.selectAllChildren(button.previousElementSibling);
      setState('Selected');
    };
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) select();
    else clipboard.writeText(text).then(() => setState('Copied'), select);
  };
  const words = what === undefined ? state : `${state} ${what}`;
  return (
    <button
      type="button"
      class={what === undefined ? '' : 'copy'}
      aria-label={words}
      title={words}
      onClick={(event) => copy(event.currentTarget)}
    >
      {state}
    </button>
  );
}
