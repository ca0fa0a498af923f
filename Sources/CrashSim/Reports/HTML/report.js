"use strict";
(() => {
  const numbers = (text) => text ? text.split(" ").map(Number) : [];

  const copy = (button) => {
    const code = button.previousElementSibling;
    const done = () => {
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    };
    const byHand = () => {
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      if (document.execCommand("copy")) done();
    };
    if (navigator.clipboard && isSecureContext) {
      navigator.clipboard.writeText(code.textContent).then(done, byHand);
    } else {
      byHand();
    }
  };
  for (const button of document.querySelectorAll("button.copy")) {
    button.addEventListener("click", () => copy(button));
  }

  const marks = ["lost", "partly", "kept", "cut-here", "sync-here"];
  const clear = (timeline) => {
    for (const row of timeline.querySelectorAll("li.marked")) {
      row.classList.remove("marked", ...marks.map((mark) => "is-" + mark));
    }
    timeline.querySelector("g.chosen").replaceChildren();
  };
  const stripe = (timeline, row, kind) => {
    if (row.dataset.column === undefined) return;
    const group = timeline.querySelector("g.chosen");
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    rect.setAttribute("class", "chosen-" + kind);
    rect.setAttribute("x", row.dataset.column * 10);
    rect.setAttribute("y", 0);
    rect.setAttribute("width", 10);
    rect.setAttribute("height", "100%");
    group.append(rect);
  };
  const show = (finding) => {
    const data = finding.dataset;
    const timeline = document.querySelector(`.timeline[data-timeline="${data.timeline}"]`);
    if (!timeline) return;
    clear(timeline);
    const mark = (number, kind) => {
      const row = document.getElementById(`c${data.timeline}e${number}`);
      if (!row) return null;
      row.classList.add("marked", "is-" + kind);
      stripe(timeline, row, kind);
      return row;
    };
    let first = null;
    for (const number of numbers(data.lost)) {
      const row = mark(number, "lost");
      first = first || row;
    }
    for (const number of numbers(data.partly)) mark(number, "partly");
    for (const number of numbers(data.kept)) mark(number, "kept");
    const missing = numbers(data.missing);
    if (missing.length === 2) mark(missing[1] - 1, "sync-here");
    if (data.point) mark(Number(data.point) - 1, "cut-here");
    const list = timeline.querySelector("ol.events");
    const target = first || timeline.querySelector("li.marked");
    if (target) list.scrollTop = target.offsetTop - list.offsetTop - 60;
  };

  for (const finding of document.querySelectorAll("article.finding")) {
    const details = finding.querySelector("details");
    details.addEventListener("toggle", () => {
      if (!details.open) return;
      const timeline = finding.dataset.timeline;
      const own = `article.finding[data-timeline="${timeline}"] > details[open]`;
      for (const other of document.querySelectorAll(own)) {
        if (other !== details) other.open = false;
      }
      show(finding);
    });
    if (details.open) show(finding);
  }
  const follow = () => {
    const finding = document.getElementById(location.hash.slice(1));
    if (finding && finding.matches("article.finding")) {
      finding.querySelector("details").open = true;
      finding.querySelector("summary").focus();
    }
  };
  addEventListener("hashchange", follow);
  follow();
})();
