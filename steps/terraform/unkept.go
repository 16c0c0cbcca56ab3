package terraform

import "io"

// unkept is a sink that keeps nothing but the names of secrets.
type unkept func(string)

// Artifact implements steps.Sink.
func (unkept) Artifact(string, string) io.WriteCloser { return discarded{io.Discard} }

// Line implements steps.Sink.
func (unkept) Line(string) {}

// Secret implements steps.Sink.
func (u unkept) Secret(v string) { u(v) }

type discarded struct{ io.Writer }

func (discarded) Close() error { return nil }
