/**
 * The label with the mount points that stay writable, as a JSON array. With it, a service that announces `read-only-
 * mounts` mounts all other volumes read-only; other services ignore it.
 */
export const WRITABLE_MOUNTS_LABEL = 'sluice-writable-mounts';
