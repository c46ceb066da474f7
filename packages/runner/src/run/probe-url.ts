/** Longest wait for an answer: a service that takes longer is queried again. */
const PROBE_MS = 5000;

/**
 * Why an HTTP GET is not answered with a status below 400; undefined if it is. A redirect is an answer and is not followed:
 * a container must not choose which other addresses the runner calls.
 */
export async function probeUrl(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.status < 400 ? undefined : `${url} answers with status ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `${url} does not answer: ${cause instanceof Error && cause.message !== '' ? cause.message : message}`;
  }
}
