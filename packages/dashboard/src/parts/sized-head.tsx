import type { ComponentChildren } from 'preact';
import { ColumnHandle, useColumnWidth } from './column-handle.tsx';

interface HeadProps {
  /** Of the width that the browser remembers. */
  readonly name: string;
  /** Of the handle. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/** The head of a table's column that the user can make wider and narrower. */
export function SizedHead({ name, label, children }: HeadProps) {
  const column = useColumnWidth(name);
  return (
    <th scope="col" class="sized" style={{ '--column-width': column.styleWidth }}>
      {children}
      <ColumnHandle column={column} label={label} />
    </th>
  );
}
