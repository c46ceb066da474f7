import type { Page } from 'playwright-core';

/** What the Tab key did on a screen: elements by their HTML. */
interface TabOrder {
  /** Controls that it did not reach. */
  readonly missed: readonly string[];
  /** Controls that look the same with the focus as without it. */
  readonly unmarked: readonly string[];
  /** Where the order of Shift+Tab is not that of Tab backwards. */
  readonly unlikeBackwards: readonly string[];
}

/** In the page, before its own scripts. */
const RECORD = `
globalThis.recorded = { clickable: new Set(), controls: [], unmarked: new Set(), order: [] };
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
  recorded.order.push(target);
  const { outlineStyle, outlineWidth } = getComputedStyle(target);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) === 0) recorded.unmarked.add(target);
});`;

/** Finds the controls, and moves the focus before the first of them. */
const BEGIN = `(() => {
  const root = document.querySelector('dialog[open]') ?? document.body;
  recorded.controls = recorded.find(root);
  recorded.unmarked.clear();
  recorded.order = [];
  root.setAttribute('tabindex', '-1');
  root.focus();
  root.removeAttribute('tabindex');
  return recorded.controls.length;
})()`;

/** Between the two directions. */
const TURN = '[recorded.forward, recorded.order] = [recorded.order, []]';

/** Both directions go past the end of the page and begin again. Compared is what is between the first and the last control. */
const END = `(() => {
  const { unmarked, words, find, forward, order } = recorded;
  const controls = recorded.controls.filter((element) => element.isConnected);
  const [first, last] = [controls[0], controls.at(-1)];
  const between = (all, from, to) => all.slice(all.indexOf(from), all.indexOf(to, all.indexOf(from)) + 1);
  const [there, back] = [between(forward, first, last), between(order, last, first).reverse()];
  return {
    count: find(document.querySelector('dialog[open]') ?? document.body).length,
    missed: words(controls.filter((element) => !there.includes(element))),
    unmarked: words(controls.filter((element) => unmarked.has(element))),
    unlikeBackwards: words(there.filter((element, place) => back[place] !== element)),
  };
})()`;

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

/** Presses the Tab key for each control of the screen, or of the dialog that is open, and then with Shift as often. */
export async function tabThrough(page: Page): Promise<TabOrder> {
  for (;;) {
    const before = await page.evaluate<number>(BEGIN);
    // The keys are in one queue, so that waiting for each is not needed.
    const press = (key: string, times: number) =>
      Promise.all(Array.from({ length: times }, () => page.keyboard.press(key)));
    await press('Tab', before + MORE_STOPS);
    await page.evaluate(TURN);
    // It begins with what was passed twice.
    await press('Shift+Tab', before + 2 * MORE_STOPS);
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
