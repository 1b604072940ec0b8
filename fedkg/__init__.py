"""fedkg: grounded answers, with a proof, from knowledge graphs that stay where they are."""
