"""What views ask and answer: who is signed in, what a service refused, a record that was edited."""

from arqlab.core.permissions import require_administrator, signed_in
from arqlab.core.views.answers import refused, sent_to, told, wants_json
from arqlab.core.views.editing import edited

__all__ = [
    "edited",
    "refused",
    "require_administrator",
    "sent_to",
    "signed_in",
    "told",
    "wants_json",
]
