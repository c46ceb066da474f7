import { renderCount } from '../model/render-count.ts';
import { BAR_ORDER, STATUSES } from '../model/statuses.ts';

/** The numbers of cells by state as a bar, in words for those who do not see it. */
export function CountBar({ counts }: { counts: ArrayLike<number> }) {
  const parts = BAR_ORDER.filter((code) => counts[code]! > 0);
  const total = parts.reduce((sum, code) => sum + counts[code]!, 0);
  return (
    <span class="count-bar" role="img" aria-label={countWords(counts)} title={countWords(counts)}>
      {parts.map((code) => (
        <span
          key={code}
          class={`tone-${STATUSES[code]!.tone} part-${STATUSES[code]!.status}`}
          style={{ width: `${(100 * counts[code]!) / total}%` }}
        />
      ))}
    </span>
  );
}

/** For example `12 succeeded, 3 running`; `no cells` for none. */
export function countWords(counts: ArrayLike<number>): string {
  const parts = BAR_ORDER.filter((code) => counts[code]! > 0).map(
    (code) => `${renderCount(counts[code]!)} ${STATUSES[code]!.label}`,
  );
  return parts.length === 0 ? 'no cells' : parts.join(', ');
}

/** The numbers by code from the numbers by status of a reply, which do not tell reused results apart. */
export function countsByCode(counts: Readonly<Record<string, number>> = {}): number[] {
  const byStatus = new Map(Object.entries(counts));
  return STATUSES.map(({ status, label }) => (label === 'reused' ? 0 : (byStatus.get(status) ?? 0)));
}
