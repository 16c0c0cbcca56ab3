package act

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	quantity "k8s.io/apimachinery/pkg/api/resource"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/object"
	"handrail/steps/kube/patch"
)

const (
	KeyPatch   = "patch"
	KeyRemoved = "items removed"
	// AtAct stands for the moment of the act, so that a request reads the same at
	// each preview.
	AtAct = "<time of the act>"
	// jsonPatch is the media type in which a patch can carry its conditions.
	jsonPatch = "application/json-patch+json"
)

// Alteration is a change of fields of one object.
type Alteration struct {
	Sub   string     // subresource that takes it, with its slash; "" for the object
	Ops   []patch.Op // with the indexes that items have
	Tests []patch.Op // what must still hold, beside UID and version
}

// Request is the patch of an alteration. It fails as a whole where the object is
// not the one that was read. version "" leaves the version untested; now fills
// what only the act knows, and is zero for the form that is shown.
func (a Alteration) Request(path, uid, version string, now time.Time) (Request, error) {
	ops := []patch.Op{{Op: patch.Test, Path: "/metadata/uid", Value: uid}}
	if version != "" {
		ops = append(ops, patch.Op{Op: patch.Test, Path: "/metadata/resourceVersion", Value: version})
	}
	for _, op := range slices.Concat(a.Tests, a.Ops) {
		if op.Op != patch.Test && !now.IsZero() {
			op.Value = timed(op.Value, now)
		}
		ops = append(ops, op)
	}
	body, err := patch.Encode(ops)
	return Request{
		Method: http.MethodPatch, Path: path + a.Sub, Media: jsonPatch, Body: []byte(body),
		Query: url.Values{"fieldManager": {cluster.FieldManager}, "timeout": {ServerTime.String()}},
	}, err
}

const afterAct = " after the act>"

// AfterAct is AtAct for a moment that is so much later.
func AfterAct(d time.Duration) string { return "<" + d.String() + afterAct }

// moment is how long after the act a placeholder stands for, and whether it is one.
func moment(v string) (after time.Duration, is bool) {
	text, is := strings.CutSuffix(v, afterAct)
	if after, err := time.ParseDuration(strings.TrimPrefix(text, "<")); is && err == nil {
		return after, true
	}
	return 0, v == AtAct
}

func momentary(v string) bool {
	_, is := moment(v)
	return is
}

// timed puts a moment where one of its placeholders stands.
func timed(v any, now time.Time) any {
	switch v := v.(type) {
	case string:
		if after, is := moment(v); is {
			return now.Add(after).UTC().Format(time.RFC3339)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, below := range v {
			out[key] = timed(below, now)
		}
		return out
	}
	return v
}

// Placed puts the placeholders of moments back into a text about a rehearsal at now, so that it reads the same at
// each one.
func (a Alteration) Placed(text string, now time.Time) string {
	var put func(v any)
	put = func(v any) {
		switch v := v.(type) {
		case string:
			if after, is := moment(v); is {
				text = strings.ReplaceAll(text, now.Add(after).UTC().Format(time.RFC3339), v)
			}
		case map[string]any:
			for _, below := range v {
				put(below)
			}
		}
	}
	for _, op := range a.Ops {
		put(op.Value)
	}
	return text
}

// Approved is the request of an alteration, once as it is sent and once as it was
// shown. What it changes must be what stands in the target.
func (a Alteration) Approved(p steps.Preview, o Order, now time.Time) (sent, shown Request, err error) {
	if said, err := patch.Encode(a.Ops); err != nil || len(a.Ops) == 0 || said != steps.Find(p.Target, KeyPatch) {
		return sent, shown, fmt.Errorf("the request changes something else than what was shown")
	}
	if shown, err = a.Request(o.Path, o.UID, Later, time.Time{}); err != nil {
		return sent, shown, err
	}
	sent, err = a.Request(o.Path, o.UID, o.Version, now)
	return sent, shown, err
}

// opsOf reads the operations of a target, nil where it has none.
func opsOf(kvs []steps.KV, key string) ([]patch.Op, error) {
	text := steps.Find(kvs, key)
	if text == "" {
		return nil, nil
	}
	var ops []patch.Op
	if err := json.Unmarshal([]byte(text), &ops); err != nil || len(ops) == 0 {
		return nil, fmt.Errorf("the patch is %q, which is invalid or was redacted", steps.Clip(text, 200))
	}
	return ops, nil
}

// Removals are the items that operations take out of lists, each with its list:
// what comes after an item takes its place, so that its path says nothing.
func Removals(doc map[string]any, ops []patch.Op) []patch.Op {
	var out []patch.Op
	for _, op := range ops {
		above := op.Path[:strings.LastIndexByte(op.Path, '/')]
		list, _ := patch.Get(doc, above)
		if _, is := list.([]any); op.Op != patch.Remove || !is {
			continue
		}
		item, _ := patch.Get(doc, op.Path)
		out = append(out, patch.Op{Op: patch.Test, Path: above, Value: item})
	}
	return out
}

// JudgeAlter says what a patch came to, from the fields that it is about.
func JudgeAlter(o Order, now Sighting) (result, words string) {
	switch {
	case now.Absent:
		return steps.Failed, fmt.Sprintf("%s is gone: someone else deleted it.", o.Object)
	case now.Other != "":
		return steps.Failed, fmt.Sprintf("%s is another object of the same name now, UID %s, not %s: it was deleted and made again.", o.Object, now.Other, o.UID)
	case now.ResourceVersion == o.Version:
		return "", fmt.Sprintf("%s is as it was.", o.Object)
	}
	lacks := o.Lacking(now.Raw)
	if len(lacks) == 0 {
		return steps.Done, fmt.Sprintf("%s is as the patch wants it.", o.Object)
	}
	return steps.Failed, fmt.Sprintf("%s is not as the patch wants it: %s. %s", o.Object, strings.Join(lacks, "; "), o.Moved(now))
}

// Lacking says which operations of the order an object does not show.
func (o Order) Lacking(raw []byte) []string {
	doc, err := patch.Decode(raw)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, op := range o.Ops {
		if why := Lacks(doc, op); why != "" {
			out = append(out, why)
		}
	}
	for _, gone := range o.Removed {
		list, _ := patch.Get(doc, gone.Path)
		items, _ := list.([]any)
		if slices.ContainsFunc(items, func(v any) bool { return reflect.DeepEqual(v, gone.Value) }) {
			out = append(out, "an item is still in "+gone.Path)
		}
	}
	return out
}

// Lacks says what a document does not have of what one operation wanted, "" for
// nothing.
func Lacks(doc map[string]any, op patch.Op) string {
	at := op.Path
	if above, ok := strings.CutSuffix(at, "/-"); ok { // somewhere in the list
		list, _ := patch.Get(doc, above)
		items, _ := list.([]any)
		if slices.ContainsFunc(items, func(v any) bool { return within(op.Value, v) }) {
			return ""
		}
		return "nothing like it stands in " + above
	}
	got, there := patch.Get(doc, at)
	switch {
	case op.Op == patch.Remove && !there:
		return ""
	case op.Op == patch.Remove && isItem(doc, at):
		return "" // what came after it moved up; removals tell
	case op.Op == patch.Remove:
		return at + " is still there"
	case !there && Vacant(op.Value):
		return ""
	case !there:
		return at + " is not there"
	case !within(op.Value, got):
		return fmt.Sprintf("%s is %s", at, steps.Clip(object.ShowValue(got), 120))
	}
	return ""
}

func isItem(doc map[string]any, path string) bool {
	above := path[:strings.LastIndexByte(path, '/')]
	v, _ := patch.Get(doc, above)
	_, is := v.([]any)
	return is
}

// within reports whether got is what was sent, with the defaults that a server
// adds and the form that it gives to quantities.
func within(sent, got any) bool {
	switch s := sent.(type) {
	case string:
		if text, is := got.(string); momentary(s) {
			_, err := time.Parse(time.RFC3339, text)
			return is && err == nil
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return len(s) == 0 && Vacant(got)
		}
		for key, v := range s {
			if have, there := g[key]; !there && !Vacant(v) || there && !within(v, have) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(s) {
			return len(s) == 0 && Vacant(got)
		}
		for i := range s {
			if !within(s[i], g[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(sent, got) || sameQuantity(sent, got) || Vacant(sent) && Vacant(got)
}

// Vacant tells what a server leaves out.
func Vacant(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return v == "0"
	}
	return false
}

func sameQuantity(a, b any) bool {
	x, errX := quantity.ParseQuantity(fmt.Sprint(a))
	y, errY := quantity.ParseQuantity(fmt.Sprint(b))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
