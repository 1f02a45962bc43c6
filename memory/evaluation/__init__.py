"""How good searches are: judged sets, measures, intervals, reports. Pure."""
