import type { ApprovalChange, OpenApproval } from '@sluice/run';
import { renderTimestamp } from '../text/render-timestamp.ts';

const MAX_NAMES = 10;
const MAX_CHANGES = 20;

/** The section of `sluice why` about an approval: what it releases, and what has changed since the last one. */
export function renderApproval({ releases, previous }: OpenApproval): string {
  const more = releases.length > MAX_NAMES ? ` and ${releases.length - MAX_NAMES} more` : '';
  const lines = [
    `releases ${releases.length === 0 ? 'no other step' : `${releases.slice(0, MAX_NAMES).join(', ')}${more}`}`,
    ...(previous === undefined ? ['was approved in none of the last 10 runs'] : describePrevious(previous)),
  ];
  return ['approval', ...lines.map((line) => `  ${line}`)].map((line) => `${line}\n`).join('');
}

function describePrevious({
  runId,
  answeredAt,
  changes,
  changeCount,
}: NonNullable<OpenApproval['previous']>): string[] {
  const last = `since its approval in run ${runId} (${renderTimestamp(answeredAt)})`;
  if (changeCount === 0) return [`${last}, nothing that it depends on or releases has changed`];
  const shown = changes.slice(0, MAX_CHANGES);
  const rest = changeCount - shown.length;
  return [
    `changed ${last}:`,
    ...shown.map((change) => `  ${describeChange(change)}`),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}

function describeChange({ kind, name, before, after }: ApprovalChange): string {
  if (kind === 'volume') return `volume ${name}: its content`;
  return `${kind} ${name}: ${before ?? 'none'} -> ${after ?? 'none'}`;
}
