// The labels of an item as they are sent. Each has its own key, so that the server stores it once,
// and names the judgment that it changes.

import { REPORTS } from "./labels.js";
import { uuid } from "./outbox.js";

function outgoing(card, instance, timer) {
  const { label, comment, reason, marks } = instance.draft;
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
    shown: label in REPORTS ? card.shown(instance) : undefined,
    marks,
  };
  timer.clear(instance.id);
  instance.submitted({ label, comment: judgment.comment, marks, key: judgment.key });
  return judgment;
}

/** Return the labels of a card that are new or changed, and mark them as submitted. */
export function takeLabels(card, timer) {
  return card.changed.map((instance) => outgoing(card, instance, timer));
}
