"""How numbers are looked up, whoever sends them."""

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import IntegerField
from django.db.models.lookups import In
from django.db.models.sql.compiler import SQLCompiler


@IntegerField.register_lookup
class StoredIn(In):
    """Django's `in`, which leaves out numbers that are too long for the database to hold.

    Django's own `exact` does, but a form with several choices asks `in`, and SQLite takes no number
    of more than 64 bits.
    """

    def process_rhs(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[str | int, ...]]:
        """Return the SQL and the values that a row may have."""
        if self.rhs_is_direct_value():
            kind = self.lhs.output_field.get_internal_type()
            least, most = connection.ops.integer_field_range(kind)
            self.rhs = [
                value for value in self.rhs if not isinstance(value, int) or least <= value <= most
            ]
        return super().process_rhs(compiler, connection)
