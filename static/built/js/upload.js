import"./DPPGGTRO.js";import"./DWC5Y5VC.js";
