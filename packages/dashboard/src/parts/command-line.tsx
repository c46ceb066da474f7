import { useRef, useState } from 'preact/hooks';

/** A command line with a button that copies it. */
export function CommandLine({ command }: { command: string }) {
  const [state, setState] = useState<'Copy' | 'Copied' | 'Selected'>('Copy');
  const code = useRef<HTMLElement>(null);
  // A page of a server without TLS cannot write to the clipboard; the user can.
  const select = () => {
    getSelection()?.selectAllChildren(code.current!);
    setState('Selected');
  };
  const copy = () => {
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) select();
    else clipboard.writeText(command).then(() => setState('Copied'), select);
  };
  return (
    <div class="command">
      <code ref={code}>{command}</code>
      <button type="button" onClick={copy}>
        {state}
      </button>
    </div>
  );
}
