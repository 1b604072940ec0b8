"""What is talked about, without I/O: terms, questions, paths, answers, what they cost and what is missing."""
