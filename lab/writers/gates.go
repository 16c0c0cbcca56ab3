package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// gates is a small reconciler: it looks at the fields that it is told of, again and
// again, and writes into a ConfigMap whether all of them are as they should be, and
// when it looked: `gates 2s release-status configmaps/lock:/data/state=free …`.
// Without a value the field must not be there; != is for any value.
func gates(ctx context.Context, in within, args []string) int {
	if len(args) < 3 {
		fmt.Fprintln(in.out, "gates: want a duration, a ConfigMap and fields")
		return 2
	}
	every, err := time.ParseDuration(args[0])
	if err != nil || every <= 0 {
		fmt.Fprintln(in.out, "gates: want a duration above zero, not", args[0])
		return 2
	}
	for {
		data := object{"state": "Healthy", "waits-for": "", "checked": time.Now().UTC().Format(time.RFC3339Nano)}
		for _, gate := range args[2:] {
			if why := shut(ctx, in, gate); why != "" {
				data["state"], data["waits-for"] = "Degraded", why
				break
			}
		}
		if err := in.api.do(ctx, http.MethodPatch, "/api/v1/namespaces/"+in.namespace+"/configmaps/"+url.PathEscape(args[1])+"?fieldManager=release-gate",
			mergePatch, object{"data": data}, nil); err != nil {
			fmt.Fprintln(in.out, err)
		}
		if wait(ctx, every) != 0 {
			return killed
		}
	}
}

// shut says why a gate is shut, "" where it is open.
func shut(ctx context.Context, in within, gate string) string {
	what, rest, ok := strings.Cut(gate, ":")
	kind, name, is := strings.Cut(what, "/")
	pointer, want, has := strings.Cut(rest, "=")
	of, known := kinds()[kind]
	if !ok || !is || !has || !known {
		return fmt.Sprintf("%q is no gate", gate)
	}
	pointer, any := strings.CutSuffix(pointer, "!")
	var o object
	err := in.api.do(ctx, http.MethodGet, of[0]+"/namespaces/"+in.namespace+"/"+of[1]+"/"+url.PathEscape(name), "", nil, &o)
	if err != nil && !hasCode(err, http.StatusNotFound) {
		return err.Error()
	}
	got := at(o, pointer)
	switch {
	case any && got != nil, !any && want == "" && got == nil, !any && want != "" && fmt.Sprint(got) == want:
		return ""
	}
	return what
}

// holds looks once, and fails where a field is not as it should be:
// `holds configmaps/schema:/data/version=3`.
func holds(ctx context.Context, in within, args []string) int {
	for _, gate := range args {
		if why := shut(ctx, in, gate); why != "" {
			fmt.Fprintln(in.out, "it is not so yet:", gate)
			return 1
		}
	}
	return 0
}
