/** How long a turn of the event loop works on runs before other work of the process continues. */
export const TURN_MS = 20;

/** Whether the present turn has lasted `TURN_MS`. In a simulation, work takes no time. */
export function createTurnDeadline(clock: { now(): number }): () => boolean {
  const endAt = clock.now() + TURN_MS;
  return () => clock.now() >= endAt;
}
