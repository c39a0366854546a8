"""Parts of an overview paper: tables, sentences, and the document that includes them."""
