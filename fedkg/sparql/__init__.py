"""The query language: how queries are built, how replies are judged and read, which engine answers."""
