/**
 * The label that names the mount points which stay writable, as a JSON array. Where it is present, a service that
 * announces `read-only-mounts` mounts every other volume read-only; other services ignore it.
 */
export const WRITABLE_MOUNTS_LABEL = 'sluice-writable-mounts';
