"""Pure text of SPARQL: requests become queries, replies become rows or classed errors."""
