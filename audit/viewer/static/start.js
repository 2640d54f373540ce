"use strict";

(async () => {
  for (const each of document.querySelectorAll(".skip")) {
    each.addEventListener("click", (event) => {
      event.preventDefault(); // the hash is the page's address
      ((each.id && Pages.firstRow()) || document.getElementById("main")).focus();
    });
  }
  try {
    Names.take(await Data.get("about"));
  } catch (error) {
    document.getElementById("main").replaceChildren(h("p.error", shown(error.message)));
    return;
  }
  await Pages.start();
})();
