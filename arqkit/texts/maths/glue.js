function typeset(latex, display, macros) {
  return temml.renderToString(latex, {
    displayMode: display, macros: JSON.parse(macros),
    xml: true, annotate: false, throwOnError: true, wrap: 'none',
    trust: false, maxExpand: 1000, maxSize: [40, 40],
  });
}
function convert(latex, display, macros) {
  return temml.renderToString(latex, {
    displayMode: display,
    macros: Object.assign({'\\iff': '\\Leftrightarrow'}, JSON.parse(macros)),
    xml: true, annotate: false, throwOnError: true, wrap: 'none',
    trust: false, maxExpand: 1000, maxSize: [40, 40],
  });
}
