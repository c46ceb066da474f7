import type { Scope } from '@sluice/client';
import { escapeHtml, renderHtmlPage } from '../listener/notice-page.ts';

/** What the form shows again after a login that failed. */
export interface LoginForm {
  /** Why it failed. */
  readonly message?: string;
  readonly email?: string;
  /** Where the login leads, as `readDestination` accepts it. */
  readonly to?: string | undefined;
}

/** The form with which a user of a server logs in. It needs no script. */
export function renderLogin({ message, email = '', to }: LoginForm = {}): string {
  const problem = message === undefined ? '' : `<p role="alert">${escapeHtml(message)}</p>\n`;
  const destination = to === undefined ? '' : `<input type="hidden" name="to" value="${escapeHtml(to)}">\n`;
  const focused = email === '' ? ['autofocus', ''] : ['', 'autofocus'];
  return page(`<h1>Log in</h1>
${problem}<form method="post" action="login">
${destination}<p><label>E-mail <input name="email" type="email" autocomplete="username" value="${escapeHtml(email)}" required ${focused[0]}></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required ${focused[1]}></label></p>
<p><button class="primary">Log in</button></p>
</form>`);
}

/** The accounts of a user, as links to their dashboards. */
export function renderAccounts(accounts: readonly Scope[]): string {
  const items = accounts.map(({ clusterID, accountID }) => {
    const name = escapeHtml(`${clusterID}/${accountID}`);
    return `<li><a href="${name}/">${name}</a></li>`;
  });
  const list = items.length === 0 ? '<p>You have no account on this server.</p>' : `<ul>\n${items.join('\n')}\n</ul>`;
  return page(`<h1>Accounts</h1>
${list}
<form method="post" action="logout"><p><button>Log out</button></p></form>`);
}

/** Why a request for a page failed. */
export function renderProblem(message: string): string {
  return page(`<h1>This did not work</h1>
<p role="alert">${escapeHtml(message)}</p>
<p><a href="./">Continue</a></p>`);
}

/** The page of an account, with the place on it after `#`: it is relative to `/ui/` and leads nowhere else. */
const DESTINATION = /^([\w.-]+)\/([\w.-]+)\/(?:#[!-~]*)?$/;

/** The page that a login leads to; undefined if the text is none of the server's. */
export function readDestination(text: unknown): { readonly to: string; readonly scope: Scope } | undefined {
  const [to, clusterID, accountID] = (typeof text === 'string' && DESTINATION.exec(text)) || [];
  if (to === undefined || clusterID === undefined || accountID === undefined) return undefined;
  return [clusterID, accountID].some((name) => /^\.+$/.test(name))
    ? undefined
    : { to, scope: { clusterID, accountID } };
}

function page(content: string): string {
  return renderHtmlPage(`<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="login.css">
<main>
<p class="name">Sluice</p>
${content}
</main>`);
}
