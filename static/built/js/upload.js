import"./chunk-SYRV5PB7.js";import"./site.js";
