import { CopyButton } from './copy-button.tsx';

/** A command line with a button that copies it. */
export function CommandLine({ command }: { command: string }) {
  return (
    <div class="command">
      <code>{command}</code>
      <CopyButton text={command} />
    </div>
  );
}
