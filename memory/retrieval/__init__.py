"""From a query to what is worth saying: understanding, fusion, relevance, packing (spec 3)."""
