import type { CellDetails, DataPort } from '@sluice/host';
import { linkTo, portPath } from '../live/route.ts';
import { FactTable } from '../parts/fact-table.tsx';

/** Results, command, environment, inputs and outputs of a cell. */
export function CellData({ value, runId }: { value: CellDetails; runId: string }) {
  return (
    <div class="fact-columns">
      <FactTable title="Results" values={value.results} />
      <Ports kind="output" ports={value.outputs} value={value} runId={runId} />
      <Ports kind="input" ports={value.inputs} value={value} runId={runId} />
      {value.image !== undefined && (
        <div>
          <h2 class="fact-title">Image</h2>
          <p>
            <code>{value.image}</code>
          </p>
        </div>
      )}
      {value.command !== undefined && (
        <div>
          <h2 class="fact-title">Command</h2>
          <pre>{value.command.join('\n')}</pre>
        </div>
      )}
      {value.environment.length > 0 && (
        <div>
          <h2 class="fact-title">Environment</h2>
          <p class="soft">{value.environment.join(', ')}</p>
        </div>
      )}
    </div>
  );
}

interface PortsProps {
  readonly kind: DataPort['kind'];
  readonly ports: CellDetails['outputs'];
  readonly value: CellDetails;
  readonly runId: string;
}

function Ports({ kind, ports, value, runId }: PortsProps) {
  if (ports.length === 0) return null;
  return (
    <div>
      <h2 class="fact-title">{kind === 'output' ? 'Outputs' : 'Inputs'}</h2>
      <ul>
        {ports.map(({ name, path, from, location, removed }) => (
          <li key={name}>
            {location === undefined ? (
              <b>{name}</b>
            ) : (
              <a href={linkTo(portPath({ runId, step: value.step, cell: value.cellIndex, port: { kind, name } }))}>
                {name}
              </a>
            )}{' '}
            <span class="soft">
              {[
                path,
                from === undefined ? undefined : `from ${from}`,
                removed ? 'removed as temporary' : location === undefined ? 'no data yet' : undefined,
              ]
                .filter((part) => part !== undefined)
                .join(', ')}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
