package kube

import (
	"encoding/json"
	"testing"

	"handrail/steps/cluster"
)

func objectFrom(tb testing.TB, in fields) cluster.Object {
	tb.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	o, err := cluster.ParseObject(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}
