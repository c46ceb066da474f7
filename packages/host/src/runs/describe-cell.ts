import { valuesOfCell } from '@sluice/core';
import { explainFollowed, type RunFollower } from '@sluice/home';
import {
  type ContainerView,
  type DataLocation,
  explanationValue,
  findInputLocations,
  findOutputLocation,
  isRemoved,
  listContainers,
  viewTexts,
} from '@sluice/run';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { cellDetails } from '../schemas/cell-replies.ts';
import type { DataPort } from './data-port.ts';
import { type CellPlace, describePlacedCell } from './describe-cells.ts';
import { describeAttemptUsage, sumAttemptUsage } from './describe-usage.ts';
import type { Followers } from './open-followers.ts';
import { optional } from './to-time.ts';
import { withoutPath } from './without-path.ts';

type Details = z.input<typeof cellDetails>;

/** One cell with everything that the journal says about it. Throws `ApiError`. */
export async function describeCell(followers: Followers, run: RunFollower, place: CellPlace): Promise<Details> {
  const { step } = run.model.facts.plan.steps[place.step]!;
  const explained = await explainFollowed(run, place, (runId) => readEarlier(followers, runId));
  const explanation = explanationValue(explained);
  const sizes = run.model.facts.header?.instanceSizes;
  const usages = explained.attempts.map((attempt) => describeAttemptUsage(sizes, attempt));
  const texts = viewTexts(run, place);
  return {
    ...describePlacedCell(run, place),
    ...explanation,
    attempts: explanation.attempts.map(({ failure, ...attempt }, index) => ({
      ...attempt,
      ...(failure && { failure: withoutPath(failure) }),
      ...usages[index],
    })),
    usage: sumAttemptUsage(usages),
    ...describeCellValues(run, place),
    ...optional('image', texts.image),
    ...(texts.command && { command: [...texts.command] }),
    environment: Object.keys(step.env).filter((variable) => !step.secrets.includes(variable)),
    inputs: describeInputs(run, place),
    outputs: describeOutputs(run, place),
    position: run.model.position,
  };
}

/** Its limits of time, priority and requested resources. */
function describeCellValues({ model }: RunFollower, { step, cell }: CellPlace) {
  const values = model.scheduler?.values(step, cell) ?? valuesOfCell(model.facts.plan, step, cell);
  const { timeoutMs, queueTimeoutMs, deadlineMs, priority, resources } = values;
  return {
    ...optional('timeoutMs', timeoutMs),
    ...optional('queueTimeoutMs', queueTimeoutMs),
    ...optional('deadlineMs', deadlineMs),
    priority,
    ...(resources && { resources: { ...resources } }),
  };
}

/** The run with which a cell is compared; it may have been removed. */
async function readEarlier(followers: Followers, runId: string): ReturnType<Parameters<typeof explainFollowed>[2]> {
  try {
    return { ok: true, value: await followers.read(runId) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ok: false, error: { code: 'RUN_NOT_FOUND', message: error.message } };
  }
}

function describeInputs(run: RunFollower, { step: index }: CellPlace): Details['inputs'] {
  const { step } = run.model.facts.plan.steps[index]!;
  return Object.entries(step.inputs).map(([name, { from, path }]) => {
    const places = findInputLocations(run, { step: index, input: name });
    const source = 'volume' in from ? from.volume : `${from.step}.${from.output}`;
    const edge = from.path ? `${source}/${from.path}` : source;
    return { name, path, from: edge, ...optional('location', places.length === 1 ? places[0]!.place : undefined) };
  });
}

function describeOutputs(run: RunFollower, { step: index, cell }: CellPlace): Details['outputs'] {
  const { step } = run.model.facts.plan.steps[index]!;
  return Object.entries(step.outputs).map(([name, { path }]) => ({
    ...{ name, path },
    ...optional('location', findOutputLocation(run, { step: index, cell, output: name })),
    ...(isRemoved(run.model.facts, { step: index, cell, output: name }) && { removed: true as const }),
  }));
}

/** The container of an attempt; undefined if none was requested. `attempt` 0 means the last one. */
export function findContainer(run: RunFollower, place: CellPlace, attempt: number): ContainerView | undefined {
  const containers = listContainers(run, place.step, place.cell);
  return attempt === 0 ? containers.at(-1) : containers.find((one) => one.attempt === attempt);
}

/** The directories of an input or output, by the cell that wrote them; `''` if there is only one. */
export function findPort(
  run: RunFollower,
  { step, cell, port }: CellPlace & { readonly port: DataPort },
): readonly { readonly cell: string; readonly place: DataLocation }[] | undefined {
  const { step: spec } = run.model.facts.plan.steps[step]!;
  const { kind, name } = port;
  if (!Object.hasOwn(spec[`${kind}s`], name)) return undefined;
  if (kind === 'input') return findInputLocations(run, { step, input: name });
  const place = findOutputLocation(run, { step, cell, output: name });
  return place === undefined ? [] : [{ cell: '', place }];
}
