"""Reddit dumps -> a SARC corpus and its benchmarks, with every dropped comment accounted for."""
