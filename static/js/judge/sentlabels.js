// The labels of an item as they are sent: each with a key of its own, so that the server takes it once, and with what it changes.

import { uuid } from "./outbox.js";
import { ASKS } from "./render.js";

function labelOf(card, instance, timer) {
  const { label, comment, reason } = instance.draft;
  const judgment = {
    instance: instance.id,
    label,
    comment: comment.trim(),
    reason: instance.isJudged ? reason.trim() : "",
    active_ms: timer.of(instance.id),
    key: uuid(),
    at: new Date().toISOString(),
    seen: instance.data.judgment?.judgment ?? null,
    after: instance.pending?.key,
    shown: label in ASKS ? card.shown(instance) : undefined,
  };
  timer.clear(instance.id);
  instance.submitted({ label, comment: judgment.comment, key: judgment.key });
  return judgment;
}

/** Take the labels of a card that are to be sent; from now on they are on their way. */
export function takeLabels(card, timer) {
  return card.changed.map((instance) => labelOf(card, instance, timer));
}
