"""Chat models: one file a vendor, budgets, the ledger, prices, and decoding that is held to a trie."""
