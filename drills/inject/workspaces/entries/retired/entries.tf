# All two hundred are retired. Routes and flags go first.
