import { type CellView, type DataPlace, findInputPlaces, findOutputPlace, viewCell, viewTexts } from '@sluice/run';
import { type CellExplanation, explainFollowed, type RunFollower } from '@sluice/runner';
import type { z } from 'zod';
import { ApiError } from '../errors/api-error.ts';
import type { cellDetails } from '../schemas/cell-replies.ts';
import { type CellPlace, describeCellHead } from './describe-cells.ts';
import { describeAttemptUsage, sumAttemptUsage } from './describe-usage.ts';
import type { Followers } from './open-followers.ts';
import { optional, timesOf, toTime } from './to-time.ts';

type Details = z.infer<typeof cellDetails>;

/** One cell with everything that the journal says about it. Throws `ApiError`. */
export async function describeCell(followers: Followers, run: RunFollower, place: CellPlace): Promise<Details> {
  const view = viewCell(run, place.step, place.cell);
  const explained = await explainFollowed(run, place, (runId) => readEarlier(followers, runId));
  const { step } = run.model.facts.plan.steps[place.step]!;
  const texts = viewTexts(run, place);
  const attempts = explained.attempts.map((attempt) => describeAttempt(run, attempt));
  return {
    ...describeCellHead(view, place),
    ...{ attempts, usage: sumAttemptUsage(attempts) },
    ...(step.resources && { resources: { ...step.resources } }),
    ...describeWait(explained),
    dependencies: explained.dependencies.map(({ step, condition, status }) => ({ step, condition, status })),
    cache: describeCache(explained.cache),
    history: describeHistory(explained),
    results: view.results,
    ...optional('image', texts.image),
    ...(texts.command && { command: [...texts.command] }),
    environment: Object.keys(step.env).filter((variable) => !step.secrets.includes(variable)),
    inputs: describeInputs(run, place),
    outputs: describeOutputs(run, place),
    position: run.model.position,
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

function describeAttempt(run: RunFollower, attempt: CellExplanation['attempts'][number]): Details['attempts'][number] {
  const { failure, postponed } = attempt;
  return {
    ...{ attempt: attempt.attempt, result: resultOf(attempt) },
    ...optional('containerId', attempt.containerId),
    ...optional('clusterId', attempt.clusterId),
    ...optional('instanceType', attempt.instanceType),
    ...timesOf(attempt, ['requestedAt', 'submittedAt', 'runningAt', 'endedAt', 'publishedAt']),
    ...describeAttemptUsage(run.model.facts.header?.instanceSizes, attempt),
    ...(postponed && { postponed: { times: postponed.times, reason: postponed.cause } }),
    ...optional('reason', failure?.reason),
    ...optional('exitCode', failure?.exitCode),
    ...optional('message', failure?.message),
    ...optional('retry', attempt.retry),
    ...(failure && failure.logTail.length > 0 && { logTail: [...failure.logTail] }),
  };
}

function resultOf({ status }: CellExplanation['attempts'][number]): Details['attempts'][number]['result'] {
  return status === 'succeeded' || status === 'failed' || status === 'canceled' ? status : 'open';
}

function describeWait({ wait }: CellExplanation): Pick<Details, 'wait'> {
  if (wait === undefined) return {};
  const { kind, message, startedAt, advice } = wait;
  return { wait: { kind, message, since: toTime(startedAt), ...optional('advice', advice) } };
}

function describeCache(cache: CellExplanation['cache']): Details['cache'] {
  switch (cache.kind) {
    case 'hit':
      return { kind: 'hit', runId: cache.runId };
    case 'missed':
      return {
        ...{ kind: 'missed', reason: cache.problem ?? cache.cause },
        ...(cache.nearest && {
          runId: cache.nearest.runId,
          differences: cache.nearest.differences.map(({ name }) => name),
        }),
      };
    default:
      return { kind: cache.kind };
  }
}

function describeHistory({ story }: CellExplanation): Details['history'] {
  return story.map(({ at, status, attempt, message }) => {
    const words = [status, message].filter((word) => word !== undefined).join(': ');
    return { at: toTime(at), message: attempt > 1 ? `${words} (attempt ${attempt})` : words };
  });
}

function describeInputs(run: RunFollower, { step: index }: CellPlace): Details['inputs'] {
  const { step } = run.model.facts.plan.steps[index]!;
  return Object.entries(step.inputs).map(([name, { from, path }]) => {
    const places = findInputPlaces(run, { step: index, input: name });
    const source = 'volume' in from ? from.volume : `${from.step}.${from.output}`;
    const edge = from.path ? `${source}/${from.path}` : source;
    return { name, path, from: edge, ...optional('place', places.length === 1 ? places[0]!.place : undefined) };
  });
}

function describeOutputs(run: RunFollower, { step: index, cell }: CellPlace): Details['outputs'] {
  const { step } = run.model.facts.plan.steps[index]!;
  return Object.entries(step.outputs).map(([name, { path }]) => ({
    ...{ name, path },
    ...optional('place', findOutputPlace(run, { step: index, cell, output: name })),
  }));
}

/** The container of an attempt; undefined if none was requested. `attempt` 0 means the last one. */
export function findContainer(view: CellView, attempt: number): CellView['containers'][number] | undefined {
  return attempt === 0 ? view.containers.at(-1) : view.containers.find((one) => one.attempt === attempt);
}

/** The directories behind a name of an input or output, by the cell that wrote them; `''` if there is only one. */
export function findPort(
  run: RunFollower,
  { step, cell, port }: CellPlace & { readonly port: string },
): readonly { readonly cell: string; readonly place: DataPlace }[] | undefined {
  const { step: spec } = run.model.facts.plan.steps[step]!;
  if (Object.hasOwn(spec.outputs, port)) {
    const place = findOutputPlace(run, { step, cell, output: port });
    return place === undefined ? [] : [{ cell: '', place }];
  }
  return Object.hasOwn(spec.inputs, port) ? findInputPlaces(run, { step, input: port }) : undefined;
}
