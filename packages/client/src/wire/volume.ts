import { z } from 'zod';
import { boundedName } from './bounded-name.ts';

/** Every phase of a volume, in the order of the protocol's table. */
export const VOLUME_PHASES = ['Creating', 'Pending', 'Available', 'Failed', 'Deleting', 'Deleted', 'Unknown'] as const;
/** A phase of the protocol's table; a service may report others. */
export type KnownVolumePhase = (typeof VOLUME_PHASES)[number];

/** Login and addresses of the transfer service (protocol, "Volume"). */
export const volumeServiceSchema = z.looseObject({
  username: z.string(),
  password: z.string(),
  address: z.looseObject({ webdav: z.string().optional(), sftp: z.string().optional() }),
});
/** Login and addresses of the transfer service; only the reply to `create` contains them. */
export type VolumeService = z.infer<typeof volumeServiceSchema>;

/** A volume as `create` and `list` return it. A volume with an unknown `phase` is not usable. */
export const volumeSchema = z.looseObject({
  id: boundedName,
  clusterID: boundedName,
  accountID: boundedName,
  phase: boundedName.optional(),
  state: z.string().optional(),
  createTime: z.string().optional(),
  service: volumeServiceSchema.optional(),
});
/** A volume as `create` and `list` return it; `service` only if it was requested. */
export type Volume = z.infer<typeof volumeSchema>;

/** Reply of endpoint 4. */
export const volumePageSchema = z.looseObject({
  volumes: z.array(volumeSchema),
  nextPageToken: z.string().nullish(),
});
