"""Forms of the pages that span all apps."""
