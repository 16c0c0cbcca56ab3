# All four are retired. They go in the order in which they came, the last one first.
