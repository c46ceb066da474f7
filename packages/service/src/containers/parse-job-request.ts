import { type ContainerSpec, JOB_LABEL, type JobRequest, jobRequestSchema } from '@sluice/client';
import { rejectField } from '../protocol/parse-body.ts';
import { parseLabel } from './parse-label.ts';

/** What the container's label requests from the system behind the engine; undefined without the label. Throws if it is not valid. */
export function parseJobRequest({ labels }: Pick<ContainerSpec, 'labels'>): JobRequest | undefined {
  const label = labels?.[JOB_LABEL];
  if (label === undefined) return undefined;
  const parsed = readJobRequest(label);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0]!;
  return rejectField(`labels.${JOB_LABEL}`, `is not valid: ${[...issue.path, issue.message].join(': ')}`);
}

/** The same of a container that was accepted: a label that its engine ignored then is ignored. */
export function findJobRequest({ labels }: Pick<ContainerSpec, 'labels'>): JobRequest | undefined {
  return labels?.[JOB_LABEL] === undefined ? undefined : readJobRequest(labels[JOB_LABEL]).data;
}

function readJobRequest(label: string) {
  return jobRequestSchema.safeParse(parseLabel(label));
}
