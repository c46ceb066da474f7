/**
 * Parts of messages of Docker Engine and Podman which say that a registry could not be asked. Plain text: the jobs of Slurm
 * search for them in a shell.
 */
export const UNREACHABLE_REGISTRY: readonly string[] = [
  'no such host',
  'server misbehaving',
  'Temporary failure in name resolution',
  'connection refused',
  'connection reset',
  'network is unreachable',
  'no route to host',
  'i/o timeout',
  'Client.Timeout',
  'TLS handshake timeout',
  'deadline exceeded',
  ': EOF',
  'unexpected EOF',
  'toomanyrequests',
  'Too Many Requests',
  'Internal Server Error',
  'Bad Gateway',
  'Service Unavailable',
  'Gateway Timeout',
];

/** Whether a failed pull says nothing about the image: the registry was away, or had no time. */
export function isUnreachableRegistry(message: string): boolean {
  return UNREACHABLE_REGISTRY.some((part) => message.includes(part));
}
