"""What is kept between questions: stores in memory, on disk and on a server, the journal of runs, packs."""
