"""The calls of a reasoning model, one file for each: what is asked, with which prompt, and how the reply is read."""
