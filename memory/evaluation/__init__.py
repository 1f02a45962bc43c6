"""How good searches are: judged sets, measures, intervals, reports (spec 3.4). Pure."""
