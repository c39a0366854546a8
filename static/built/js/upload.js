import"./DPPGGTRO.js";import"./site.js";
