import type { RunDetails } from '@sluice/host';
import { CommandLine } from '../parts/command-line.tsx';
import { FactTable } from '../parts/fact-table.tsx';
import { Time } from '../parts/time.tsx';

/** What a run consists of beside its steps. */
export function RunFacts({ details }: { details: RunDetails }) {
  const outputs = Object.entries(details.outputs).map(([name, output]) => [
    name,
    `${output.step}.${output.output}${output.publishedTo === undefined ? '' : `, published to ${output.publishedTo}`}`,
  ]);
  return (
    <section class="panel facts" aria-label="Details">
      {details.description !== undefined && <p>{details.description}</p>}
      <div class="fact-columns">
        <FactTable title="Parameters" values={details.params} />
        <FactTable title="Results" values={details.results ?? {}} />
        <FactTable title="Outputs" values={Object.fromEntries(outputs)} />
        <FactTable title="Labels" values={details.labels} />
        <FactTable title="Cluster and account" values={{ cluster: details.clusterId, account: details.accountId }} />
      </div>
      {details.warnings.length > 0 && (
        <>
          <h2 class="fact-title">Warnings</h2>
          <ul>
            {details.warnings.map(({ at, message }) => (
              <li key={`${at}${message}`}>
                <span class="soft">
                  <Time at={at} />
                </span>{' '}
                {message}
              </li>
            ))}
          </ul>
        </>
      )}
      {details.command !== undefined && (
        <>
          <h2 class="fact-title">Equivalent command</h2>
          <CommandLine command={details.command} />
        </>
      )}
    </section>
  );
}
