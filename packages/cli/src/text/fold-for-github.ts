import { workflowCommand } from './workflow-command.ts';

/**
 * A group of lines that GitHub Actions shows when a user opens it. `token` must be a word that the text cannot contain:
 * until it appears again, GitHub interprets no commands, such as those in the log of a container.
 */
export function foldForGithub(title: string, { text, token }: { text: string; token: string }): string {
  return `${workflowCommand('group', title)}::stop-commands::${token}\n${text}::${token}::\n${workflowCommand('endgroup')}`;
}
