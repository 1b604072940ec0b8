"""One question from its text to the document: linked, walked by a method, presented and assembled."""
