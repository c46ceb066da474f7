import { renderDuration } from '@sluice/core';
import type { CellDetails } from '@sluice/host';
import { describeStatus } from '@sluice/run';
import { replaceQuery } from '../live/route.ts';
import { hourWords, resourceWords } from '../parts/resource-words.ts';
import { Time } from '../parts/time.tsx';
import { CellUsage } from './cell-usage.tsx';

/** The attempts of a cell with their times and containers, and its resource use. */
export function CellAttempts({ value, instanceType }: { value: CellDetails; instanceType: string | undefined }) {
  const hasContainers = value.image !== undefined || value.command !== undefined;
  return (
    <>
      {value.attempts.length === 0 ? <p class="empty">The cell has no attempt yet.</p> : <AttemptTable value={value} />}
      {hasContainers && <CellUsage value={value} instanceType={instanceType} />}
    </>
  );
}

function AttemptTable({ value }: { value: CellDetails }) {
  return (
    <div class="scroll">
      <table class="attempts">
        <thead>
          <tr>
            <th class="number">Attempt</th>
            <th>Result</th>
            <th>Started</th>
            <th class="number">Queued for</th>
            <th class="number">Ran for</th>
            <th class="number">Core-hours</th>
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
                {describeStatus(attempt)}
                {attempt.failure !== undefined && <small class="soft">{attempt.failure.message}</small>}
              </td>
              <td>{attempt.runningAt === undefined ? '–' : <Time at={attempt.runningAt} />}</td>
              <td class="number">{attempt.queuedMs === undefined ? '–' : renderDuration(attempt.queuedMs)}</td>
              <td class="number">{attempt.ranMs === undefined ? '–' : renderDuration(attempt.ranMs)}</td>
              <td class="number">{attempt.coreHours === undefined ? '–' : hourWords(attempt.coreHours)}</td>
              <td class="number">{attempt.failure?.exitCode ?? '–'}</td>
              <td>
                <code>{attempt.containerId ?? '–'}</code>
                <small class="soft">{[attempt.clusterId, attempt.instanceType].filter(Boolean).join(', ')}</small>
                {attempt.instance !== undefined && <small class="soft">{resourceWords(attempt.instance)}</small>}
              </td>
              <td>{attempt.retry}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
