import type { RunDetails } from '@sluice/host';
import { linkTo } from '../live/route.ts';

/** Links to the screens above this one. `steps` are the names of the path below the run. */
export function Trail({ details, steps }: { details: RunDetails; steps: readonly string[] }) {
  const [step, cell] = steps;
  return (
    <nav class="trail" aria-label="Path">
      <a href={linkTo([])}>Runs</a>
      <a href={linkTo(['runs', details.runId], { step })}>
        {details.pipeline} <span class="soft id">{details.runId}</span>
      </a>
      {step !== undefined &&
        (cell === undefined ? (
          <span aria-current="page">{step}</span>
        ) : (
          <a href={linkTo(['runs', details.runId, 'steps', step])}>{step}</a>
        ))}
      {cell !== undefined && <span aria-current="page">{cell}</span>}
    </nav>
  );
}
