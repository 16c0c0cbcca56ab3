module handrail/lab/git

go 1.26.0
