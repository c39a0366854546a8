// The engine hands over flat strings only, and keeps long sums of strings as ropes: join() flattens.
function flat(text) {
  return [text].join('');
}
function typeset(latex, display, macros) {
  return flat(temml.renderToString(latex, {
    displayMode: display, macros: JSON.parse(macros),
    xml: true, annotate: false, throwOnError: true, wrap: 'none',
    trust: false, maxExpand: 1000, maxSize: [40, 40],
  }));
}
function convert(latex, display, macros) {
  return flat(temml.renderToString(latex, {
    displayMode: display,
    macros: Object.assign({'\\iff': '\\Leftrightarrow'}, JSON.parse(macros)),
    xml: true, annotate: false, throwOnError: true, wrap: 'none',
    trust: false, maxExpand: 1000, maxSize: [40, 40],
  }));
}
