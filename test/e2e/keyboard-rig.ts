import type { Page } from 'playwright-core';

/** What the Tab key did on a screen: elements by their HTML. */
interface TabOrder {
  /** Controls that it did not reach. */
  readonly missed: readonly string[];
  /** Controls that look the same with the focus as without it. */
  readonly unmarked: readonly string[];
}

/** In the page, before its own scripts. */
const RECORD = `
globalThis.recorded = { clickable: new Set(), controls: [], reached: new Set(), unmarked: new Set() };
recorded.find = (root) => {
  const isReachable = (element) =>
    element.tabIndex >= 0 && !element.matches(':disabled') && element.checkVisibility({ visibilityProperty: true });
  return [...root.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter(isReachable);
};
recorded.words = (elements) => [...elements].map(({ outerHTML }) => outerHTML.slice(0, 120));
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, ...rest) {
  if (type === 'click' && this instanceof Element) recorded.clickable.add(this);
  return listen.call(this, type, ...rest);
};
document.addEventListener('focusin', ({ target }) => {
  recorded.reached.add(target);
  const { outlineStyle, outlineWidth } = getComputedStyle(target);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) === 0) recorded.unmarked.add(target);
});`;

/** Finds the controls, and moves the focus before the first of them. */
const BEGIN = `(() => {
  const root = document.querySelector('dialog[open]') ?? document.body;
  recorded.controls = recorded.find(root);
  recorded.reached.clear();
  recorded.unmarked.clear();
  root.setAttribute('tabindex', '-1');
  root.focus();
  root.removeAttribute('tabindex');
  return recorded.controls.length;
})()`;

const END = `({
  count: recorded.find(document.querySelector('dialog[open]') ?? document.body).length,
  missed: recorded.words(recorded.controls.filter((element) => element.isConnected && !recorded.reached.has(element))),
  unmarked: recorded.words(recorded.controls.filter((element) => recorded.unmarked.has(element))),
})`;

const MOUSE_ONLY = `recorded.words(
  [...recorded.clickable].filter(
    (element) =>
      element.checkVisibility() &&
      element.tabIndex < 0 &&
      !element.matches('a[href], button, input, select, summary, label, [role=treeitem], [role=tab], .uplot *'),
  ),
)`;

/** Regions that scroll are stops of the Tab key as well. */
const MORE_STOPS = 20;

/** Records from now on, on each page that is loaded, which elements react to clicks, and where the focus goes. */
export async function recordFocus(page: Page): Promise<void> {
  await page.addInitScript(RECORD);
}

/** Presses the Tab key for each control of the screen, or of the dialog that is open. */
export async function tabThrough(page: Page): Promise<TabOrder> {
  for (;;) {
    const before = await page.evaluate<number>(BEGIN);
    // The keys are in one queue, so that waiting for each is not needed.
    await Promise.all(Array.from({ length: before + MORE_STOPS }, () => page.keyboard.press('Tab')));
    const { count, ...order } = await page.evaluate<TabOrder & { readonly count: number }>(END);
    // Where something was still loaded, there were not enough keys.
    if (count === before) return order;
  }
}

/**
 * Visible elements that react to a click and that no key can reach: neither a control, nor part of a composite one. Those of
 * plots are not counted: the table below a plot has its values and links.
 */
export function findMouseOnly(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(MOUSE_ONLY);
}
