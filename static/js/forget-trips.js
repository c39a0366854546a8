// Deletes the offline trips of other users: whoever is signed in now, or nobody, must not see them.
// Error pages do not know who is signed in, so they delete nothing.

import { forgetOthers } from "./judge/trips/trip.js";

const { user, signedOut } = document.body.dataset;
if ("caches" in window && (user !== undefined || signedOut !== undefined)) forgetOthers(user);
