import { runLook, STATUSES } from '../model/statuses.ts';

/** The state of a cell or step by its code: a shape with a color, and its name. */
export function StatusMark({ code, isShort = false }: { code: number; isShort?: boolean }) {
  const { label, mark, tone } = STATUSES[code]!;
  return (
    <span class={`status tone-${tone}`} title={label}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      <span class={isShort ? 'hidden' : ''}>{label}</span>
    </span>
  );
}

/** The status of a run. */
export function RunStatus({ status, isShort = false }: { status: string; isShort?: boolean }) {
  const { mark, tone } = runLook(status);
  return (
    <span class={`status run-status tone-${tone}`} title={status}>
      <span class="mark" aria-hidden="true">
        {mark}
      </span>
      <span class={isShort ? 'hidden' : ''}>{status}</span>
    </span>
  );
}
