/** A page that tells a person why the wanted one is not shown, and what to do. It needs neither a style nor a script. */
export function renderNotice({ message, advice }: { readonly message: string; readonly advice: string }): string {
  return renderHtmlPage(`<h1>Sluice</h1>
<p>${escapeHtml(message)}</p>
<p>${escapeHtml(advice)}</p>`);
}

/** A page without scripts, whose `content` is HTML. */
export function renderHtmlPage(content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
${content}
</html>
`;
}

/** Text that HTML shows as it is. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
