module handrail/lab/writers

go 1.26.0
