/** The stylesheet of the pages that have only a form, in the colors of the dashboard. */
export const LOGIN_STYLE = `:root {
  color-scheme: light dark;
  --ink: #1b1f24;
  --soft: #57606a;
  --line: #8a949f;
  --back: #f3f5f8;
  --panel: #ffffff;
  --accent: #0b62c4;
  --on-accent: #ffffff;
  --bad: #c9252d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ed;
    --soft: #9fa9b4;
    --line: #55606c;
    --back: #0e1217;
    --panel: #171c23;
    --accent: #6cb0ff;
    --on-accent: #171c23;
    --bad: #ff7b7b;
  }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 16px; background: var(--back); color: var(--ink); font: 15px / 1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 380px; margin: 10vh auto 0; padding: 20px 24px; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
h1 { font-size: 20px; margin: 0 0 12px; }
p { margin: 0 0 12px; }
a { color: var(--accent); }
ul { padding-left: 20px; }
.name { margin: 0 0 4px; font-weight: 700; color: var(--soft); }
[role="alert"] { color: var(--bad); font-weight: 600; }
label { display: block; }
input, button { font: inherit; padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); color: var(--ink); }
label input { display: block; width: 100%; }
button { cursor: pointer; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
`;
