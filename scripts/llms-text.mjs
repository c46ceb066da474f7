import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const REPOSITORY = 'https://raw.githubusercontent.com/sluice/sluice/main/';
/** Headings named for each page. */
const MAX_HEADINGS = 12;
/** Pages that a reader who lacks room may skip. */
const OPTIONAL = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** The pages of the documentation for language models, in the form of https://llmstxt.org: every page with its topics. */
export function createLlmsText(root) {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', ...docs.sort().map((name) => `docs/${name}`), 'examples/README.md'];
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8'));
  const list = (paths) => paths.map((path) => renderPage(path, readFileSync(join(root, path), 'utf8'))).join('');
  return [
    '# Sluice\n\n',
    `> ${firstParagraph(readme)}\n\n`,
    `Version ${version}. \`sluice --help\` lists the commands, \`sluice COMMAND --help\` the options of a command with examples, and \`sluice check FILE\` the errors of a pipeline file. The JSON Schemas of the values that \`--json\` prints are in \`schemas\` of the npm package.\n\n`,
    `## Documentation\n\n${list(pages)}\n`,
    `## Optional\n\n${list(OPTIONAL)}`,
  ].join('');
}

function renderPage(path, text) {
  const prose = text.replace(/^```.*?^```$/gms, '');
  const [title = path] = headings(prose, '#');
  const topics = headings(prose, '##');
  const more = topics.length > MAX_HEADINGS ? ', …' : '';
  const note = topics.length === 0 ? firstParagraph(text) : `${topics.slice(0, MAX_HEADINGS).join(', ')}${more}`;
  return `- [${title}](${REPOSITORY}${path}): ${note}\n`;
}

function headings(text, level) {
  return [...text.matchAll(new RegExp(`^${level} (.*)$`, 'gm'))].map(([, heading]) => plain(heading));
}

/** The first lines after the title that are no heading, image or code. */
function firstParagraph(text) {
  const paragraphs = text.split(/\n\n+/).map((paragraph) => paragraph.trim());
  return plain(paragraphs.find((paragraph) => /^[A-Za-z`*[]/.test(paragraph) && !paragraph.startsWith('```')) ?? '');
}

function plain(markdown) {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('\n', ' ');
}
