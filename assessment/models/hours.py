"""What a lab pays its assessors for their hours."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from arqlab.core.models import Lab


class PayRule(models.Model):
    """The hourly rate of a lab's assessors and the time zone in which their days begin."""

    lab = models.OneToOneField(Lab, models.CASCADE, related_name="pay_rule")
    hourly_rate = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=10, blank=True)
    time_zone = models.CharField(
        max_length=64, default="UTC", help_text="A name of the time zone database."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_rate__isnull=True) | Q(hourly_rate__gte=0),
                name="hourly_rate_not_negative",
            )
        ]

    @classmethod
    def of(cls, lab: Lab) -> PayRule:
        """Return what a lab pays, or an empty rule that is not stored."""
        return cls.objects.filter(lab=lab).first() or cls(lab=lab)
