/** Exists if the job was signaled to end while no agent was there to see it. */
export const TOLD = 'told';
/** The settings of all agents, which never change: JSON (`agentSettingsSchema`). */
export const SETTINGS = 'settings.json';
/** Exists while an agent has long had nothing to do, and after its end. */
export const IDLE = 'idle';
/** What the service appends for the agent (`Order`). */
export const ORDERS = 'orders';
/** What the agent appends for the service (`Report`). */
export const REPORTS = 'reports';
