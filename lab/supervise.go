package main

func supervise([]string) error { return nil }
