"""Topic files: the labs' XML, topic information, source threads, chosen questions."""
