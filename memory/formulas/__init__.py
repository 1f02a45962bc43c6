"""The formulas of spec 1.6, one small pure function each; every result keeps its factors."""
