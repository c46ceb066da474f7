import type { RunDetails } from '@sluice/host';
import { describeTimeSpent, type TimeShare } from '@sluice/run';
import { useEffect } from 'preact/hooks';
import type { LiveRun } from '../live/open-run.ts';

/** A container that runs long changes no state, only the time. */
const REFRESH_MS = 15_000;

/** Where the time of a run went, as a bar with its legend and as a table. */
export function TimeSpentPanel({ run, details }: { run: LiveRun; details: RunDetails }) {
  const isLive = (run.status ?? details.status) === 'running';
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => {
      if (!document.hidden) run.refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [run, isLive]);
  const { timeSpent } = details;
  if (timeSpent === undefined || timeSpent.totalMs === 0) return null;
  const { total, parts } = describeTimeSpent(timeSpent);
  return (
    <section class="panel time-spent" aria-labelledby="time-spent">
      <div class="time-line">
        <h2 id="time-spent">
          Time {total}
          {isLive && <span class="soft"> so far</span>}
        </h2>
        <div class="time-bar" role="img" aria-label={parts.map(shareWords).join(', ')}>
          {parts.map((share) => (
            <span
              key={share.part}
              class={`time-${share.part}`}
              style={{ flexGrow: share.ms }}
              title={`${shareWords(share)}: ${share.meaning}`}
            />
          ))}
        </div>
      </div>
      <details>
        <summary>
          <span class="time-legend">
            {parts.map(({ part, label, duration }) => (
              <span key={part}>
                <i class={`time-${part}`} aria-hidden="true" />
                {label} <b>{duration}</b>
              </span>
            ))}
          </span>
        </summary>
        <TimeTable parts={parts} total={total} />
      </details>
    </section>
  );
}

function TimeTable({ parts, total }: { parts: readonly TimeShare[]; total: string }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col" class="number">
              Share
            </th>
            <th scope="col">What counts</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ part, label, duration, percent, meaning }) => (
            <tr key={part}>
              <th scope="row">{label}</th>
              <td class="number">{duration}</td>
              <td class="number">{percent}</td>
              <td class="soft">{meaning}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">together</th>
            <td class="number">{total}</td>
            <td class="number">100%</td>
            <td class="soft">from the time when the first step could start to the end</td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** For example `computing 4.1 s (64%)`. */
function shareWords({ label, duration, percent }: TimeShare): string {
  return `${label} ${duration} (${percent})`;
}
