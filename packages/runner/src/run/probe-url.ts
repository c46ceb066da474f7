/** Longest wait for an answer: a service that takes longer is queried again. */
const PROBE_MS = 5000;

/** Whether an HTTP GET ends with a status below 400. */
export async function probeUrl(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.status < 400;
  } catch {
    return false;
  }
}
