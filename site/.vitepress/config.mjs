import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';

// Configuration of VitePress for scripts/build-site.mjs, which fills `content`.
const CONTENT = fileURLToPath(new URL('../content', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REPOSITORY = 'https://github.com/sluice/sluice/blob/main/';

/** These become the index of their directory. */
const REWRITES = Object.fromEntries(
  ['', 'examples/', 'docs/decisions/', 'api/'].map((directory) => [`${directory}README.md`, `${directory}index.md`]),
);

/**
 * Pages link to files of the repository that are no pages: those links lead to the repository. Links to pages that are
 * rewritten lead to their new names.
 */
function linkToRepository(md) {
  md.core.ruler.push('link-to-repository', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^([a-z]+:|#|\/)/.test(href)) continue;
      const path = normalize(join(dirname(env.relativePath ?? ''), decodeURI(href.replace(/#.*/, ''))));
      const isPage = path.endsWith('.md') && existsSync(join(CONTENT, path));
      // What exists nowhere stays as it is, and VitePress reports it.
      if (!isPage && existsSync(join(ROOT, path))) token.attrSet('href', REPOSITORY + path);
      if (isPage && Object.hasOwn(REWRITES, path)) token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'));
    }
  });
}

const page = (text, link) => ({ text, link: `/docs/${link}` });

export default {
  title: 'Sluice',
  description: 'Pipelines of containers',
  // A site of GitHub Pages lies in a directory that is named after the repository.
  base: process.env.SITE_BASE ?? '/',
  srcDir: 'content',
  outDir: 'dist',
  cacheDir: '.cache',
  cleanUrls: false,
  rewrites: REWRITES,
  markdown: { config: linkToRepository },
  // The pages show `${{ … }}`, which Vue would evaluate.
  vue: { template: { compilerOptions: { delimiters: ['[[[[', ']]]]'] } } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: 'https://github.com/sluice/sluice' }],
    nav: [
      { text: 'Tutorial', link: '/docs/tutorial' },
      { text: 'Pipeline file', link: '/docs/pipeline' },
      { text: 'Command', link: '/docs/command' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'What Sluice is', link: '/' },
          page('Tutorial', 'tutorial'),
          page('Coming from another tool', 'coming-from'),
          { text: 'Examples', link: '/examples/' },
          page('Troubleshooting', 'troubleshooting'),
        ],
      },
      {
        text: 'Reference',
        items: [
          page('The pipeline file', 'pipeline'),
          page('Checks', 'checks'),
          page('The command', 'command'),
          page('Conventions', 'conventions'),
          page('Schedules', 'schedules'),
          page('Runs in the background', 'hosting'),
          page('The dashboard', 'dashboard'),
          page('Continuous integration', 'ci'),
          page('Assistants', 'assistants'),
          page('The library', 'library'),
          page('The run API', 'run-api'),
          { text: 'API', link: '/api/' },
          page('Glossary', 'glossary'),
        ],
      },
      {
        text: 'Operation',
        items: [
          page('Engines', 'engines'),
          page('Docker and Podman', 'docker'),
          page('Slurm', 'slurm'),
          page('Serving others', 'serve'),
          page('Monitoring', 'monitoring'),
          page('Volumes and ports', 'transfer'),
          page('The protocol', 'protocol'),
          page('Reliability', 'reliability'),
          { text: 'Security', link: '/SECURITY' },
        ],
      },
      {
        text: 'Development',
        items: [
          { text: 'Architecture', link: '/ARCHITECTURE' },
          { text: 'Contributing', link: '/CONTRIBUTING' },
          page('The scheduler', 'scheduler'),
          page('Benchmarks', 'benchmarks'),
          page('Decisions', 'decisions/'),
          { text: 'Changelog', link: '/packages/cli/CHANGELOG' },
        ],
      },
    ],
  },
};
