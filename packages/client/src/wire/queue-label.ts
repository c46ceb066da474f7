/**
 * The label by which our service divides the waiting containers of an account: those with different values take turns.
 * Other services ignore it.
 */
export const QUEUE_LABEL = 'sluice-run';
