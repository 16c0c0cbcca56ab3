package kube

import (
	"strings"
	"testing"
)

// TestImages: what Pods run is told by what their node reports, by tag or not, and what it does not report is unknown.
func TestImages(t *testing.T) {
	t.Parallel()
	w := newKeepersWorld(t)
	const repo = "registry.example.com:5000/team/api"
	a, b := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	run := func(name, ref, imageID, phase string, state fields) {
		t.Helper()
		spec := podSpec("")
		spec["containers"] = []fields{{"name": "app", "image": ref}, {"name": "proxy", "image": "registry.example.com/mesh/proxy:1"}}
		w.create(w.in("", "pods", ""), fields{"metadata": fields{"name": name}, "spec": spec})
		s := containerIs("app", 0, state, nil)
		s["imageID"] = imageID
		w.podStatus(name, fields{"phase": phase, "containerStatuses": []fields{s}})
	}
	up := fields{"running": fields{"startedAt": "2026-01-05T11:00:00Z"}}
	ask := func(expected string) map[string]string {
		t.Helper()
		out := map[string]string{}
		for name, v := range w.about("kube/images", "image", repo+":1", "expected", expected).Facts {
			out[name] = v.Text()
			if !v.Known() {
				out[name] = "?"
			}
		}
		return out
	}
	want := func(when string, got map[string]string, pairs ...string) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got[pairs[i]] != pairs[i+1] {
				t.Errorf("%s: %s = %s, want %s", when, pairs[i], got[pairs[i]], pairs[i+1])
			}
		}
	}
	want("no Pod", ask(a), "running", "none", "containers", "0", "by_tag", "[]")
	run("one", repo+":1", repo+"@"+a, "Running", up)
	want("the expected one", ask(a), "running", "expected", "containers", "1", "by_tag", `["`+repo+`:1"]`, "others", "[]")
	want("nothing expected", ask(""), "running", "?", "digests", `["`+a+`"]`)
	run("two", repo+":1", "", "Pending", fields{"waiting": fields{"reason": "ImagePullBackOff"}})
	want("one that waits", ask(a), "running", "waiting", "waiting", `["two/app: ImagePullBackOff"]`)
	run("old", repo+":1", repo+"@"+b, "Succeeded", terminated(0, "Completed"))
	want("one that has ended", ask(a), "running", "waiting", "ended", `["old/app `+b+`"]`, "containers", "2")
	run("three", repo+":1", "sha256:"+strings.Repeat("c", 64), "Running", up) // the image, by its configuration
	want("one of which the node reports no manifest", ask(a), "running", "?", "others", "?", "unsaid", `["three/app"]`)
	run("four", repo+"@"+a, "docker-pullable://"+repo+"@"+b, "Running", up)
	want("another one", ask(a), "running", "other", "others", `["four/app `+b+`"]`)
	if obs := w.about("kube/images", "image", "other/app", "expected", a); obs.Facts["running"].Text() != "none" {
		t.Errorf("another repository: %v", obs.Facts["running"])
	}
}
