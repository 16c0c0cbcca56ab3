package kube

import (
	"encoding/json"
	"testing"
)

func objectFrom(tb testing.TB, in fields) object {
	tb.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	o, err := parseObject(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}
