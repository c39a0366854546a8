import"./DWC5Y5VC.js";
