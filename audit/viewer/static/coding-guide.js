"use strict";

// The coding guide as elements. Its Markdown has paragraphs, lists and tables; links in it are shown as their text.
const CodingGuide = (() => {
  function inline(text) {
    return text.split(/(\*\*[^*]+\*\*|`[^`]+`|\*[^*]+\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
      if (part.startsWith("**")) return h("strong", {}, shown(part.slice(2, -2)));
      if (part.startsWith("`")) return h("code", {}, shown(part.slice(1, -1)));
      if (/^\*.+\*$/.test(part)) return h("em", {}, shown(part.slice(1, -1)));
      if (/^\[.+\)$/.test(part)) return shown(part.slice(1, part.indexOf("]")));
      return shown(part);
    });
  }

  function block(text) {
    const lines = text.split("\n");
    if (lines[0].startsWith("|")) {
      const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line)).map((line) => line.split("|").slice(1, -1));
      const row = (cells, tag) => h("tr", {}, cells.map((cell) => h(tag, {}, inline(cell.trim()))));
      const [head, ...rest] = rows;
      return h("table", {}, h("thead", {}, row(head, "th")), h("tbody", {}, rest.map((cells) => row(cells, "td"))));
    }
    if (lines[0].startsWith("- ")) {
      const items = text.split(/\n(?=- )/).map((item) => item.slice(2).replace(/\s*\n\s*/g, " "));
      return h("ul", {}, items.map((item) => h("li", {}, inline(item))));
    }
    return h("p", {}, inline(lines.join(" ")));
  }

  function section({ title, text }) {
    const heading = title ? [h("h3", {}, inline(title))] : [];
    return [...heading, ...text.split(/\n{2,}/).map(block)];
  }

  return { section };
})();
