/**
 * The label with the names of the variables whose values are secret, as a JSON array. A service that announces `secret-envs`
 * stores them encrypted until the container has ended, and shows them in no reply; other services ignore it.
 */
export const SECRET_ENVS_LABEL = 'sluice-secret-envs';
