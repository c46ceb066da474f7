import { renderDuration } from '@sluice/core';
import type { CellDetails } from '@sluice/host';
import { hourWords, resourceWords } from '../parts/resource-words.ts';

/** What the pipeline requests for a cell, and what its attempts have occupied. */
export function CellUsage({ value, instanceType }: { value: CellDetails; instanceType: string | undefined }) {
  const { resources, usage } = value;
  const { memoryBytes, ...rest } = resources ?? {};
  const requested = resourceWords({ ...rest, memoryGB: memoryBytes === undefined ? undefined : memoryBytes / 1e9 });
  const { attempts, ranMs, coreHours, gpuHours = 0 } = usage;
  return (
    <section aria-labelledby="usage">
      <h2 class="fact-title" id="usage">
        Resource use
      </h2>
      <dl class="usage">
        <div>
          <dt>Requested by the pipeline</dt>
          <dd>{requested || instanceType || 'nothing, so that the smallest instance type is used'}</dd>
        </div>
        {attempts > 0 && (
          <div>
            <dt>Ran in total</dt>
            <dd>
              {renderDuration(ranMs)} in {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
            </dd>
          </div>
        )}
        {attempts > 0 && (
          <div>
            <dt>Core-hours</dt>
            <dd>
              {coreHours === undefined ? 'unknown: the journal has no size of the instance type' : hourWords(coreHours)}
            </dd>
          </div>
        )}
        {gpuHours > 0 && (
          <div>
            <dt>GPU-hours</dt>
            <dd>{hourWords(gpuHours)}</dd>
          </div>
        )}
      </dl>
      <p class="soft">
        Core-hours are the cores of the instance type, multiplied by the time that the attempts ran. The CPU, memory and
        GPU that they really used are not known: services do not report them.
      </p>
    </section>
  );
}
