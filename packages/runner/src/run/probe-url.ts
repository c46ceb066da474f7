/** Longest wait for an answer: a service that takes longer is queried again. */
const PROBE_MS = 5000;

/**
 * Whether an HTTP GET is answered with a status below 400. A redirect is an answer and is not followed: a container must not
 * choose which other addresses the runner calls.
 */
export async function probeUrl(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.status < 400;
  } catch {
    return false;
  }
}
