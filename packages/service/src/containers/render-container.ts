import { type Container, own, type Port } from '@sluice/client';
import type { ContainerRow } from '../store/container-row.ts';
import { renderTime } from '../store/render-list-item.ts';

/** A container as in the replies of endpoints 7 and 8. `state` is passed separately, since it is computed for waiting containers. */
export function renderContainer(row: ContainerRow, state: string): Container {
  return {
    id: row.id,
    clusterID: row.clusterID,
    accountID: row.accountID,
    ...renderSpec(row),
    phase: row.phase,
    state,
    ...(row.runID === undefined ? {} : { runID: row.runID }),
    ...(row.nodeID === undefined ? {} : { nodeID: row.nodeID }),
    createTime: renderTime(row.createTime),
    ...(row.startTime === undefined ? {} : { startTime: renderTime(row.startTime) }),
    ...(row.endTime === undefined ? {} : { endTime: renderTime(row.endTime), runTime: runTime(row) }),
  };
}

/** The client's spec, with the assigned ports and hosts. */
function renderSpec(row: ContainerRow): Partial<Container> {
  const { command, ports, ...rest } = row.spec;
  return {
    ...rest,
    ...(command === undefined ? {} : { command: [...command] }),
    ...(ports === undefined ? {} : { ports: renderPorts(row) }),
  };
}

function renderPorts(row: ContainerRow): Record<string, Port> {
  return Object.fromEntries(
    Object.keys(row.spec.ports ?? {}).map((name) => [
      name,
      {
        ...(own(row.ports, name) === undefined ? {} : { port: own(row.ports, name) }),
        ...(own(row.hosts, name) === undefined ? {} : { https: { host: own(row.hosts, name) } }),
      },
    ]),
  );
}

/** Seconds; 0 for a container that ended before it ran. */
function runTime(row: ContainerRow): number {
  return row.startTime === undefined ? 0 : (row.endTime! - row.startTime) / 1000;
}
