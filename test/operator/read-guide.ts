/** What somebody who follows a page does: writes a file, or runs commands. */
export type GuideStep =
  | { readonly type: 'file'; readonly path: string; readonly text: string }
  | { readonly type: 'commands'; readonly text: string };

/** The blocks of a page that are to be followed, in order: `sh` is run; the others go to the file named right before. */
export function readGuide(page: string): GuideStep[] {
  const blocks = page.matchAll(/^( *)```(sh|bash|yaml|ini|csv)\n(.*?)^ *```$/gms);
  return [...blocks].map(({ 1: indent = '', 2: language, 3: body = '', index }): GuideStep => {
    const text = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
    if (language === 'sh') return { type: 'commands', text };
    const path = /`([^`\s]+)`:\s*$/.exec(page.slice(0, index))?.[1];
    if (path === undefined) throw new Error(`no file is named right before the block:\n${text}`);
    return { type: 'file', path, text };
  });
}
