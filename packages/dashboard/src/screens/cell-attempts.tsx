import type { CellDetails } from '@sluice/host';
import { replaceQuery } from '../live/route.ts';
import { durationWords, timeWords } from '../parts/time-words.ts';

type Attempt = CellDetails['attempts'][number];

/** The attempts of a cell with their times and containers. */
export function CellAttempts({ value }: { value: CellDetails }) {
  if (value.attempts.length === 0) return <p class="empty">The cell has no attempt yet.</p>;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th class="number">Attempt</th>
            <th>Result</th>
            <th>Started</th>
            <th class="number">Queued for</th>
            <th class="number">Ran for</th>
            <th class="number">Exit code</th>
            <th>Container</th>
            <th>Then</th>
          </tr>
        </thead>
        <tbody>
          {value.attempts.map((attempt) => (
            <tr key={attempt.attempt}>
              <td class="number">
                <button
                  type="button"
                  aria-label={`Log of attempt ${attempt.attempt}`}
                  onClick={() => replaceQuery({ tab: 'log', attempt: String(attempt.attempt) })}
                >
                  {attempt.attempt}
                </button>
              </td>
              <td>
                {attempt.result}
                {attempt.reason !== undefined && ` (${attempt.reason})`}
                {attempt.message !== undefined && <small class="soft">{attempt.message}</small>}
              </td>
              <td>{attempt.runningAt === undefined ? '–' : timeWords(attempt.runningAt)}</td>
              <td class="number">{between(attempt, 'submittedAt', 'runningAt')}</td>
              <td class="number">{between(attempt, 'runningAt', 'endedAt')}</td>
              <td class="number">{attempt.exitCode ?? '–'}</td>
              <td>
                <code>{attempt.containerId ?? '–'}</code>
                <small class="soft">{[attempt.clusterId, attempt.instanceType].filter(Boolean).join(', ')}</small>
              </td>
              <td>{attempt.retry}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function between(attempt: Attempt, from: 'submittedAt' | 'runningAt', to: 'runningAt' | 'endedAt'): string {
  const [start, end] = [attempt[from], attempt[to]];
  return start === undefined || end === undefined ? '–' : durationWords(Date.parse(end) - Date.parse(start));
}
