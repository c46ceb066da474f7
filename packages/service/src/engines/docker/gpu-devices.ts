/** Label with the identifiers of the GPUs that a container has, as JSON. */
export const GPU_LABEL = 'sluice.gpus';

const CDI_NAME = /^[a-z0-9.-]+\/[\w.-]+=[\w.:-]+$/i;

/** Podman ignores requests for all other devices without an error. */
export function isDeviceFile(id: string): boolean {
  return id.startsWith('/dev/');
}

/** The part of `HostConfig` that gives a container these GPUs: files of `/dev`, names of CDI, or identifiers of NVIDIA. */
export function gpuDevices(ids: readonly string[]): Record<string, unknown> {
  const files = ids.filter(isDeviceFile);
  const named = ids.filter((id) => CDI_NAME.test(id));
  const others = ids.filter((id) => !isDeviceFile(id) && !CDI_NAME.test(id));
  const requests = [
    ...(named.length > 0 ? [{ Driver: 'cdi', DeviceIDs: named }] : []),
    ...(others.length > 0 ? [{ Driver: '', DeviceIDs: others, Capabilities: [['gpu']] }] : []),
  ];
  return {
    ...(files.length > 0 && {
      Devices: files.map((path) => ({ PathOnHost: path, PathInContainer: path, CgroupPermissions: 'rwm' })),
    }),
    ...(requests.length > 0 && { DeviceRequests: requests }),
  };
}

/** The identifiers in the labels of a container; none if it has no such label. */
export function readGpuLabel(labels: Readonly<Record<string, string>> | null | undefined): readonly string[] {
  const label = labels?.[GPU_LABEL];
  return label === undefined ? [] : (JSON.parse(label) as string[]);
}
