"use strict";

// The pages, and which one is shown: an address is a page's name, parts and query.
const Pages = (() => {
  const pages = new Map();
  const keys = new Map();
  let leave = null;
  let turn = 0;
  let said = false;

  /** Add a page: {name, title, render(main, route), inNav, isServedOnly}. `render` may return what is called when it is left. */
  function add(page) {
    pages.set(page.name, page);
  }

  /** What a key does as long as this page is shown. */
  function onKey(key, action) {
    keys.set(key, action);
  }

  function navigation(current) {
    const shownPages = [...pages.values()].filter((page) => page.inNav && !(page.isServedOnly && Data.isExported) && (!page.isThere || page.isThere(Names.about)));
    document.getElementById("nav").replaceChildren(
      ...shownPages.map((page) =>
        link(page.title, Query.address(page.name), { "aria-current": page.name === current ? "page" : null }),
      ),
    );
  }

  async function show() {
    const route = Query.read(location.hash);
    const mine = ++turn;
    const page = pages.get(route.name);
    const main = document.getElementById("main");
    if (leave) leave();
    leave = null;
    keys.clear();
    navigation(route.name);
    const fresh = h("div.page");
    main.setAttribute("aria-busy", "true");
    said = false;
    try {
      if (!page) throw new Error(`there is no page "${shown(route.name)}"`);
      if (page.isServedOnly && Data.isExported) throw new Error(Data.notice);
      const left = await page.render(fresh, route);
      if (mine !== turn) {
        if (left) left();
        return;
      }
      leave = left || null;
    } catch (error) {
      if (mine !== turn) return;
      const ways = [...document.querySelectorAll("#nav a")].flatMap((each) => [each.cloneNode(true), " "]);
      fresh.replaceChildren(h("h1", "Nothing to show"), h("p.error", shown(error.message)), h("p", "Go on with: ", ...ways));
      announce(`Nothing to show: ${shown(error.message)}`);
    }
    const isSame = main.dataset.page === route.name;
    main.dataset.page = route.name;
    const focused = document.activeElement?.id;
    main.replaceChildren(fresh);
    main.removeAttribute("aria-busy");
    const title = fresh.querySelector("h1")?.textContent || page.title;
    document.title = `${title} · audit view`;
    if (!said) announce(title);
    if (isSame && focused) document.getElementById(focused)?.focus({ preventScroll: true });
    if (!isSame) scrollTo(0, 0);
  }

  /** Say something to those who do not see the page. */
  function announce(text) {
    said = true;
    document.getElementById("announce").textContent = text;
  }

  /** The link of the first row that is seen, if there is one. */
  function firstRow() {
    return [...document.querySelectorAll("main tbody a")].find((each) => each.checkVisibility());
  }

  function start() {
    addEventListener("hashchange", show);
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input:not([type='checkbox']), select, textarea, [contenteditable]")) return;
      const action = keys.get(event.key);
      if (!action) return;
      event.preventDefault();
      action(event);
    });
    return show();
  }

  return { add, onKey, announce, firstRow, show, start };
})();
