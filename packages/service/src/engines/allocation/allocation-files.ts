/** Exists if the job was signaled to end while no agent was there to see it. */
export const TOLD = 'told';
/** The agent's settings, which never change: JSON (`agentSettingsSchema`). */
export const SETTINGS = 'settings.json';
/** What the service appends for the agent (`Order`). */
export const ORDERS = 'orders';
/** What the agent appends for the service (`Report`). */
export const REPORTS = 'reports';
