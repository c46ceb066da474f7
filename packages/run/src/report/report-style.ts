/** The style sheet of the page, with light and dark colors and rules for printing. */
export const REPORT_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#59636e;--line:#d6dbe1;--page:#fff;--panel:#f6f8fa;
--good:#1a7f4b;--bad:#c9252d;--warn:#9a6700;--calm:#6e7781;--reuse:#0d7d8c;--busy:#0b62c4;--wait:#c3cad2}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9aa4af;--line:#333a43;--page:#101419;--panel:#181d24;
--good:#3fb373;--bad:#f26d6d;--warn:#d9a53a;--calm:#8b949e;--reuse:#3cb7c7;--busy:#5aa2f5;--wait:#434c57}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem;background:var(--page);color:var(--ink);
font:15px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .6rem}
p{margin:.3rem 0}.soft,th,small{color:var(--soft)}
code,pre,.mono{font-family:ui-monospace,monospace;font-size:.86em}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:.8rem 0 0}
.facts div{min-width:6rem}.facts b{display:block;font-size:1.05rem}
.badge{display:inline-block;padding:0 .5em;border-radius:1em;color:var(--page);background:var(--calm);font-weight:600;font-size:.85em}
.succeeded{--state:var(--good)}.failed{--state:var(--bad)}.canceled,.suspended{--state:var(--warn)}
.skipped,.waiting{--state:var(--calm)}.reused{--state:var(--reuse)}
.running,.pending,.submitting,.publishing,.ready{--state:var(--busy)}
.awaitingApproval{--state:var(--warn)}
.badge{background:var(--state,var(--calm))}.dot{display:inline-block;width:.65em;height:.65em;border-radius:50%;
background:var(--state,var(--calm));margin-right:.45em}
.scroll{overflow:auto;border:1px solid var(--line);border-radius:6px;background:var(--panel);max-height:40rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}
td:not(.why){overflow-wrap:normal}
th.why,td.why{width:30%}
th{font-weight:500;position:sticky;top:0;background:var(--panel)}tr:last-child td{border-bottom:0}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
svg{display:block;max-width:calc(100% - 2rem);height:auto;margin:1rem}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}svg .sub{font-size:10.5px;fill:var(--soft)}
.node{fill:var(--page);stroke:var(--line)}.strip{fill:var(--state,var(--calm))}.edge{fill:none;stroke:var(--wait);stroke-width:1.4}
.edge.critical{stroke:var(--ink);stroke-width:2}
.gantt{padding:.5rem .7rem;min-width:38rem}.row{display:flex;align-items:center;height:1.35rem}
.row .name{width:14rem;flex:none;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;font-size:.86em;padding-right:.6rem}
.track{position:relative;flex:1;height:.8rem}.track i{position:absolute;top:0;bottom:0;min-width:2px;border-radius:2px}
.track i.wait{background:var(--wait);opacity:.55;top:.3rem;bottom:.3rem}.track i.queue{background:var(--wait);top:.18rem;bottom:.18rem}
.track i.ran{background:var(--state,var(--calm))}.track i.ran.critical{outline:1.5px solid var(--ink)}
.axis .track{height:1.1rem;font-size:.75em;color:var(--soft)}.axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.axis span:first-child{transform:none}.axis span:last-child{transform:translateX(-100%)}
.legend{font-size:.86em;color:var(--soft)}.legend i{display:inline-block;width:1.4em;height:.7em;border-radius:2px;margin:0 .3em 0 .9em}
.failure{border-left:3px solid var(--bad);padding:.1rem .8rem;margin:.9rem 0}
pre{margin:.4rem 0;padding:.6rem .8rem;background:var(--panel);border:1px solid var(--line);border-radius:6px;overflow:auto;max-height:22rem;white-space:pre-wrap}
@media print{.scroll,pre{max-height:none;overflow:visible}svg{min-width:0!important}h2{break-after:avoid}tr,.row,.failure p{break-inside:avoid}}
`;
