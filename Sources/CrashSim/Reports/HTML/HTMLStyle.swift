// HTMLStyle.swift: how the page looks, in the light and in the dark, from 400 pixels of width up.
// The colours lie near those of Okabe and Ito, which people with any colour vision can tell apart;
// no meaning has a colour alone.

/// The page's style sheet.
enum HTMLStyle {
  static let sheet: StaticString = """
    :root {
      --ground: #f6f7f9; --paper: #ffffff; --ink: #1b1f24; --soft: #5b6470; --line: #d8dde3;
      --faint: #eef1f4; --held: #00695c; --bad: #b23c00; --kept: #0a5ea8; --mark: #7a5a00;
      --durable: #c3cad2; --shade: rgba(20, 30, 40, .06);
      --mono: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #14171b; --paper: #1c2026; --ink: #e4e8ec; --soft: #9aa5b1; --line: #343b44;
        --faint: #242a31; --held: #4db6ac; --bad: #ff9254; --kept: #6cb6f5; --mark: #e2b93d;
        --durable: #4a535e; --shade: rgba(0, 0, 0, .3);
      }
    }
    * { box-sizing: border-box; }
    html { scroll-padding-top: 1rem; }
    body {
      margin: 0 auto; max-width: 100rem; padding: 1.25rem; background: var(--ground);
      color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
      overflow-wrap: anywhere;
    }
    h1 { font-size: 1.5rem; margin: .1rem 0 1rem; line-height: 1.3; }
    h2 { font-size: 1.15rem; margin: 0; line-height: 1.4; }
    h3 { font-size: .85rem; margin: 1.1rem 0 .35rem; color: var(--soft); font-weight: 600; }
    p { margin: .3rem 0; }
    ul, ol, dl, dd { margin: 0; padding: 0; list-style: none; }
    a { color: var(--kept); }
    pre, code { font-family: var(--mono); font-size: .86em; }
    :focus-visible { outline: 2px solid var(--kept); outline-offset: 2px; border-radius: 3px; }
    .path { color: var(--soft); font-family: var(--mono); font-size: .82rem; }
    .note, .cut { color: var(--soft); font-size: .88rem; }
    .cut { font-style: italic; }
    .scroll { overflow-x: auto; }

    .brand { color: var(--soft); font-weight: 600; letter-spacing: .04em; margin: 0; }
    .page { margin-bottom: 1.25rem; }
    .facts { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin-bottom: .9rem; }
    .facts dt { color: var(--soft); font-size: .78rem; }
    .facts dd { font-variant-numeric: tabular-nums; font-weight: 600; }
    .verdict {
      display: inline-block; border: 1.5px solid currentColor; border-radius: 1rem;
      padding: 0 .6rem; font-size: .8rem; font-weight: 700; line-height: 1.5rem;
      vertical-align: middle; white-space: nowrap;
    }
    .verdict.held { color: var(--held); }
    .verdict.broken { color: var(--bad); }
    .verdict.lab { color: var(--mark); border-style: dashed; }

    .command {
      display: flex; align-items: center; gap: .6rem; background: var(--faint);
      border: 1px solid var(--line); border-radius: 6px; padding: .35rem .5rem; margin: .6rem 0;
    }
    .command .label { color: var(--soft); font-size: .78rem; flex: none; }
    .command code { flex: 1; min-width: 0; max-height: 5.4em; overflow: auto; }
    button {
      font: inherit; font-size: .8rem; color: var(--ink); background: var(--paper);
      border: 1px solid var(--line); border-radius: 4px; padding: .15rem .6rem; cursor: pointer;
    }
    button:hover { border-color: var(--soft); }

    .contents {
      background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
      margin-bottom: 1.25rem; max-height: 22rem; overflow: auto;
    }
    .contents li {
      display: flex; flex-wrap: wrap; gap: .2rem .8rem; align-items: center;
      padding: .4rem .8rem; border-bottom: 1px solid var(--line);
    }
    .contents li:last-child { border-bottom: 0; }
    .contents .verdict { min-width: 6.5rem; text-align: center; }
    .contents .note { margin-left: auto; }

    .case {
      background: var(--paper); border: 1px solid var(--line); border-radius: 8px;
      padding: 1rem 1.1rem; margin-bottom: 1.25rem; box-shadow: 0 1px 3px var(--shade);
    }
    .complaint { color: var(--bad); font-weight: 600; }
    .explorations { border-collapse: collapse; margin: .7rem 0; font-size: .88rem; }
    .explorations th, .explorations td {
      padding: .2rem .9rem .2rem 0; text-align: right; white-space: nowrap;
      font-variant-numeric: tabular-nums; border-bottom: 1px solid var(--line);
    }
    .explorations th:first-child { text-align: left; }
    .explorations thead th { color: var(--soft); font-weight: 500; font-size: .8rem; }
    .quiet > summary { cursor: pointer; color: var(--soft); font-size: .9rem; }

    .work { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.2rem; margin-top: .8rem; }
    @media (min-width: 1000px) {
      .work { grid-template-columns: minmax(0, 11fr) minmax(0, 9fr); align-items: start; }
      .work.alone { grid-template-columns: minmax(0, 1fr); }
      .work .timeline { position: sticky; top: .6rem; }
    }
    .finding { border: 1px solid var(--line); border-radius: 6px; margin-bottom: .6rem; }
    .finding > details > summary {
      display: flex; gap: .7rem; align-items: baseline; cursor: pointer; padding: .55rem .8rem;
    }
    .finding > details > summary::-webkit-details-marker { display: none; }
    .finding > details[open] > summary {
      border-bottom: 1px solid var(--line); background: var(--faint);
    }
    .finding > details > summary:hover { background: var(--faint); }
    .ordinal { color: var(--bad); font-weight: 700; white-space: nowrap; }
    .headline { flex: 1; min-width: 0; font-weight: 600; }
    .count { color: var(--soft); font-size: .82rem; white-space: nowrap; }
    .body { padding: .8rem; }
    .promise { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: .3rem .8rem; }
    .promise dt { color: var(--soft); font-size: .85rem; }
    .promise pre { margin: 0; white-space: pre-wrap; max-height: 14em; overflow: auto; }
    .losses li { padding: .12rem 0; }
    .badge {
      font-size: .76rem; font-weight: 700; border: 1.5px solid; border-radius: 4px;
      padding: 0 .35rem; white-space: nowrap;
    }
    .badge.lost { color: var(--bad); }
    .badge.torn { color: var(--bad); border-style: dashed; }
    .badge.kept { color: var(--kept); }
    .missing {
      border: 1.5px dashed var(--mark); border-radius: 6px; padding: .5rem .8rem; margin: .9rem 0 0;
    }
    .missing strong { color: var(--mark); font-size: .88rem; }
    .models { display: flex; flex-wrap: wrap; gap: .35rem; }
    .models li {
      font-size: .82rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .5rem;
    }
    .also li { padding-left: .9rem; border-left: 3px solid var(--line); margin: .25rem 0; }

    .file { border-top: 1px solid var(--line); margin-top: .9rem; }
    .file h3 { color: var(--ink); }
    .file h3 .note { font-weight: 400; }
    .map {
      display: grid; grid-template-columns: 4rem minmax(0, 1fr); gap: .3rem .5rem;
      align-items: center;
    }
    .map .label { color: var(--soft); font-size: .8rem; }
    .bar {
      position: relative; height: 1.15rem; background: var(--faint); overflow: hidden;
      border: 1px solid var(--line); border-radius: 3px;
    }
    .bar i { position: absolute; top: 0; bottom: 0; min-width: 3px; }
    .bar .durable { background: var(--durable); min-width: 0; }
    .bar .pending { background: var(--soft); }
    .bar .kept { background: var(--kept); }
    .bar .lost {
      background: repeating-linear-gradient(135deg, var(--bad) 0 3px, var(--paper) 3px 7px);
      border: 1px solid var(--bad);
    }
    .bar .torn {
      background: repeating-linear-gradient(90deg, var(--bad) 0 3px, var(--kept) 3px 6px);
    }
    .ranges { font-size: .85rem; margin: .35rem 0; }
    .ranges summary { cursor: pointer; color: var(--soft); }
    .ranges ul { max-height: 12rem; overflow: auto; padding-left: 1rem; }
    .bytes { font: .8rem/1.5 var(--mono); border-collapse: collapse; margin: .4rem 0; }
    .bytes th {
      font-weight: 400; color: var(--soft); text-align: left; padding-right: .8rem;
      white-space: nowrap;
    }
    .bytes td { white-space: pre; padding-right: 1rem; }
    .bytes .offset, .bytes .text { color: var(--soft); }
    .bytes b { color: var(--bad); text-decoration: underline; }

    .timeline > h3 { margin-top: 0; }
    .legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; font-size: .8rem; }
    .legend li { color: var(--soft); white-space: nowrap; }
    .shape.sync { color: var(--kept); }
    .shape.mark { color: var(--mark); font-weight: 700; }
    .shape.fault { color: var(--bad); font-weight: 700; }
    .shape.held { color: var(--held); }
    .shape.failing { color: var(--bad); }
    .strip {
      display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .5rem; margin: .5rem 0;
      border: 1px solid var(--line); border-radius: 4px; padding: .35rem .5rem;
    }
    .strip svg { width: 100%; display: block; }
    .actors li {
      height: 12px; line-height: 12px; font-size: 10px; color: var(--soft); max-width: 8rem;
      overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
    }
    .actors .verdicts { height: 26px; line-height: 38px; }
    .strip .operation { fill: var(--durable); }
    .strip .sync { fill: var(--kept); }
    .strip .mark, .strip .fault { fill: var(--mark); }
    .strip .held { fill: var(--held); }
    .strip .unknown { fill: var(--durable); }
    .strip .failing { fill: var(--bad); }
    .strip .chosen-lost, .strip .chosen-partly { fill: var(--bad); opacity: .35; }
    .strip .chosen-kept { fill: var(--kept); opacity: .25; }
    .strip .chosen-cut-here, .strip .chosen-sync-here { fill: var(--mark); opacity: .4; }

    .events {
      max-height: min(36rem, 70vh); overflow: auto; border: 1px solid var(--line);
      border-radius: 4px; font-size: .82rem; position: relative;
    }
    .events li {
      display: grid; align-items: start; gap: 0 .5rem; padding: .1rem .5rem; min-height: 1.6rem;
      grid-template-columns: 2.9rem calc(var(--lanes) * .9rem + .3rem) minmax(0, 1fr) auto;
      content-visibility: auto; contain-intrinsic-size: auto 1.6rem;
      border-left: 4px solid transparent; border-bottom: 1px solid var(--faint);
    }
    .events .number { color: var(--soft); font-variant-numeric: tabular-nums; text-align: right; }
    .events .lane {
      align-self: stretch; padding-left: calc(var(--lane) * .9rem); text-align: left;
      background: repeating-linear-gradient(90deg, transparent 0 .28rem, var(--line) .28rem
        calc(.28rem + 1px), transparent calc(.28rem + 1px) .9rem);
    }
    .events .shape { display: inline-block; background: var(--paper); }
    .events .actor { color: var(--soft); }
    .events .injected { color: var(--bad); font-weight: 600; margin-left: .5rem; }
    .events .point { white-space: nowrap; font-variant-numeric: tabular-nums; }
    .events .point.held { color: var(--held); }
    .events .point.unknown, .shape.unknown { color: var(--soft); }
    .events .point.failing { color: var(--bad); font-weight: 700; }
    .events .reference { font-weight: 700; }
    .events .gap { display: block; text-align: center; color: var(--soft); font-style: italic; }
    .events .mark .what { color: var(--mark); }
    .events .close .what { color: var(--soft); }
    .events .sync .what { font-weight: 600; }
    .events .marked { background: var(--faint); }
    .events .is-lost { border-left-color: var(--bad); }
    .events .is-kept { border-left-color: var(--kept); border-left-style: double; }
    .events .is-lost .what::after, .events .is-kept .what::after,
    .events .is-sync-here .what::after, .events .is-cut-here .what::after {
      font-weight: 700; font-size: .76rem; margin-left: .5rem; white-space: nowrap;
    }
    .events .is-lost .what::after { content: "✗ lost"; color: var(--bad); }
    .events .is-lost.is-partly .what::after { content: "✗ partly lost"; }
    .events .is-kept .what::after { content: "✓ kept"; color: var(--kept); }
    .events .is-sync-here::after, .events .is-cut-here::after {
      grid-column: 1 / -1; text-align: center; font-weight: 700; font-size: .76rem;
    }
    .events .is-sync-here::after {
      content: "⊘ a sync is missing by here"; color: var(--mark);
      border-top: 1.5px dashed var(--mark);
    }
    .events .is-cut-here::after {
      content: "▲ power goes"; color: var(--bad); border-top: 2px solid var(--bad);
    }
    .events .is-sync-here.is-cut-here::after {
      content: "⊘ a sync is missing by here, ▲ power goes";
    }
    footer { color: var(--soft); font-size: .82rem; margin-top: 1rem; }
    @media (max-width: 600px) {
      body { padding: .7rem; font-size: 14px; }
      .case { padding: .7rem; }
      .finding > details > summary { flex-wrap: wrap; gap: .1rem .7rem; }
      .headline { flex: 1 1 100%; order: 1; }
      .count { margin-left: auto; }
      .promise { grid-template-columns: minmax(0, 1fr); gap: 0; }
      .promise dd { margin-bottom: .5rem; }
      .contents .note { margin-left: 0; }
      .events li {
        grid-template-columns: 2.4rem calc(var(--lanes) * .9rem + .3rem) minmax(0, 1fr) auto;
        padding: .1rem .25rem;
      }
      .actors li { max-width: 5rem; }
    }
    @media print {
      .events, .contents { max-height: none; }
      button { display: none; }
    }
    """
}
