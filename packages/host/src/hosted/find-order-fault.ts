import { type Plan, type Retry, retriesOfCells } from '@sluice/core';

/** Attempts that one cell may have. */
const MAX_RETRIES = 100;
/** More retries than this need a pause between them. */
const MAX_HASTY = 10;
const SHORTEST_PAUSE_MS = 1000;
/** Of all labels together: each list of runs, each event of it and each container contains them. */
const MAX_LABEL_CHARACTERS = 16_384;
/** Dependencies of all steps together: about as many as the largest file could list one by one. */
const MAX_DEPENDENCIES = 200_000;

/** Why a server does not execute a plan, which a machine of its author could; undefined if it does. */
export function findOrderFault(plan: Plan): string | undefined {
  const { pipeline, steps } = plan;
  const command = pipeline.notify.findIndex((one) => one.command !== undefined);
  if (command >= 0) return `notify.${command}.command: a server runs no commands; use \`webhook\``;
  const labels = Object.entries(pipeline.labels).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (labels > MAX_LABEL_CHARACTERS)
    return `labels: they must have at most ${MAX_LABEL_CHARACTERS} characters together`;
  const dependencies = steps.reduce((sum, step) => sum + step.dependencies.length, 0);
  if (dependencies > MAX_DEPENDENCIES) return `the steps must have at most ${MAX_DEPENDENCIES} dependencies together`;
  for (const { index, step } of steps) {
    const retries = retriesOfCells(plan, index);
    const fault =
      retries === undefined ? UNKNOWN_RETRIES : retries.map(findRetryFault).find((one) => one !== undefined);
    if (fault !== undefined) return `step ${step.name}: ${fault}`;
  }
  return undefined;
}

const UNKNOWN_RETRIES = 'its `retry` uses values of the run, and a server limits the retries before it starts a run';

function findRetryFault({ limit, infrastructure, backoff }: Retry): string | undefined {
  if (Math.max(limit, infrastructure) > MAX_RETRIES) return `it must have at most ${MAX_RETRIES} retries`;
  const isHasty = limit > MAX_HASTY && Math.min(backoff.initialMs, backoff.maxMs) < SHORTEST_PAUSE_MS;
  return isHasty
    ? `more than ${MAX_HASTY} retries need a \`backoff\` of at least ${SHORTEST_PAUSE_MS / 1000}s`
    : undefined;
}
