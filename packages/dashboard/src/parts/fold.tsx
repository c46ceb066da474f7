import type { ComponentChildren } from 'preact';

interface FoldProps {
  readonly isFolded: boolean;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Its contents as they are, or, where there is little space, behind a line that shows them. */
export function Fold({ isFolded, label, children }: FoldProps) {
  if (!isFolded) return children;
  return (
    <details class="fold">
      <summary>{label}</summary>
      {children}
    </details>
  );
}
