import { evaluateTogether } from '@sluice/core';
import type { RunFollower } from '@sluice/home';
import { type FollowedModel, listRunImages, orderWords, renderTimes, timesOf, viewRun, viewTexts } from '@sluice/run';
import type { z } from 'zod';
import type { runDetails } from '../schemas/run-replies.ts';
import { describeHead } from './describe-states.ts';
import { optional } from './to-time.ts';
import { withoutPath } from './without-path.ts';

type Details = z.input<typeof runDetails>;

const MAX_FAILURES = 100;
const MAX_RESUMES = 100;
/** Of the images of one step. */
const MAX_IMAGES = 3;
/** Cells whose image is evaluated for the description of their step. */
const MAX_EVALUATED = 100;

/** Turns of all evaluations of one description, which clients may request at any time: about 0.1 s. */
const MAX_TURNS = 200_000;

/** The descriptions of ended runs, each of one position of the journal: 0.1 s for 10,000 steps. */
const known = new WeakMap<FollowedModel, Details>();

/** A run without its cells. */
export function describeRun(run: RunFollower): Details {
  const { model } = run;
  const earlier = known.get(model);
  if (earlier?.position === model.position && earlier.status === run.phase) return earlier;
  const details = evaluateTogether(model.facts.plan, () => describe(run), MAX_TURNS);
  // Durations of a run in progress count until now.
  if (model.facts.finished) known.set(model, details);
  return details;
}

function describe(run: RunFollower): Details {
  const { model, runId } = run;
  const { facts } = model;
  const { pipeline, params } = facts.plan;
  const view = viewRun(run, { failures: MAX_FAILURES, now: Date.now() });
  const { steps, levels, criticalPath, failures, outputs, results, message, timeSpent } = view;
  return {
    runId,
    pipeline: pipeline.name,
    ...optional('description', pipeline.description),
    status: describeHead(run).status,
    ...optional('message', message),
    ...renderTimes(timesOf(facts)),
    clusterId: facts.header.clusterID,
    accountId: facts.header.accountID,
    labels: { ...pipeline.labels },
    params: { ...params },
    ...(results && { results: { ...results } }),
    outputs,
    warnings: facts.warnings.map(renderTimes),
    failures: failures.map(withoutPath),
    failureCount: facts.failures.length,
    failureGroups: [...view.failureGroups],
    failureGroupCount: view.failureGroupCount,
    failedCellCount: view.failedCellCount,
    skippedSteps: [...view.skippedSteps],
    ...(facts.header.order && { command: quoteCommand(['sluice', ...orderWords(facts.header.order)]) }),
    plan: { steps: describePlan(run, levels) },
    steps: steps.map((step, index) => ({ ...renderTimes(step), counts: model.counts(index) })),
    criticalPath: criticalPath.map(renderTimes),
    ...optional('timeSpent', timeSpent),
    resumes: facts.pauses.slice(-MAX_RESUMES).map(({ from, to }) => renderTimes({ at: to, lastRecordAt: from })),
    position: model.position,
  };
}

function describePlan(run: RunFollower, levels: readonly number[]): Details['plan']['steps'] {
  const { facts, scheduler } = run.model;
  const images = listImages(run);
  const groups = new Map(
    Object.entries(facts.plan.pipeline.used ?? {}).flatMap(([group, names]) => names.map((name) => [name, group])),
  );
  return facts.plan.steps.map(({ index, step, final, dependencies }) => ({
    step: step.name,
    ...optional('description', step.description),
    kind: step.approval ? 'approval' : step.service ? 'service' : 'container',
    dependencies: dependencies.map(({ on }) => on),
    ...(step.each && { each: [...step.each] }),
    level: levels[index]!,
    final,
    ...optional('group', groups.get(step.name)),
    cells: scheduler.cellCount(index) ?? null,
    ...optional('image', images.get(step.name)),
    ...optional('instanceType', step.instanceType),
    ...(step.resources && { resources: { ...step.resources } }),
  }));
}

/** The image of each step by its name; of cells with different images the first few. */
function listImages(run: RunFollower): ReadonlyMap<string, string> {
  const { facts } = run.model;
  const images = new Map(listRunImages(facts).flatMap(({ image, steps }) => steps.map((name) => [name, image])));
  facts.plan.steps.forEach(({ step: { name } }, step) => {
    if (images.get(name)?.includes('${{') !== true) return;
    const found = new Set<string>();
    const cells = Math.min(MAX_EVALUATED, facts.cells[step]?.length ?? 0);
    for (let cell = 0; cell < cells && found.size <= MAX_IMAGES; cell++)
      found.add(viewTexts(run, { step, cell }).image ?? 'no image');
    const shown = [...found].slice(0, MAX_IMAGES).join(', ');
    if (found.size > 0) images.set(name, found.size > MAX_IMAGES ? `${shown}, …` : shown);
  });
  return images;
}

/** Words of a command line as a POSIX shell reads them. */
export function quoteCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
