import { type ContainerSpec, WRITABLE_MOUNTS_LABEL } from '@sluice/client';
import { z } from 'zod';
import { RequestError } from '../protocol/request-error.ts';
import { shorten } from '../protocol/shorten.ts';
import { normalizeTarget } from './normalize-target.ts';
import { parseLabel } from './parse-label.ts';

const mountPointsSchema = z.array(z.string().startsWith('/'));

/**
 * The normalized mount points that the container's label declares writable; undefined without the label, when all are
 * writable. Throws if the value is not a JSON array of the container's own mount points.
 */
export function parseWritableMounts({ labels, volumeMounts }: ContainerSpec): ReadonlySet<string> | undefined {
  const label = labels?.[WRITABLE_MOUNTS_LABEL];
  if (label === undefined) return undefined;
  const parsed = mountPointsSchema.safeParse(parseLabel(label));
  if (!parsed.success) return rejectLabel('is not a JSON array of mount points');
  const known = new Set(Object.values(volumeMounts ?? {}).map(normalizeTarget));
  const writable = parsed.data.map(normalizeTarget);
  const unknown = parsed.data.find((_, index) => !known.has(writable[index]!));
  if (unknown !== undefined) rejectLabel(`names '${shorten(unknown)}', which is not a mount point of volumeMounts`);
  return new Set(writable);
}

function rejectLabel(why: string): never {
  const field = `labels.${WRITABLE_MOUNTS_LABEL}`;
  throw new RequestError('FIELD_INVALID', `could not use the field '${field}' because it ${why}`, {
    details: { field },
  });
}
