// What every page loads.

import "./table.js";
import "./table-frames.js";
import "./times.js";
import "./request-errors.js";
import "./submit-once.js";
import "./keep-forms.js";
import "./tabs.js";
import "./maths.js";
import "./forget-trips.js";
