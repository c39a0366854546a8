"""What takes the files of a collection in."""

from collection.services.importing.around import import_file
from collection.services.importing.formulas import forget_formulas, import_formulas
from collection.services.importing.posts import import_posts

__all__ = [
    "forget_formulas",
    "import_file",
    "import_formulas",
    "import_posts",
]
