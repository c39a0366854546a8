import"./chunk-FZRJGN42.js";import"./site.js";
