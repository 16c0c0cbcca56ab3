package workload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// tokenMark begins what redaction puts in the place of a value.
const tokenMark = "<redacted:"

// version tells whether the values of the Secret are others than they were: the time of a write does
// not, since a controller that writes a label moves it too. The values are read into memory alone;
// what leaves are tokens under the key of the bundle, and nothing where none keys them.
func (r *deliveryRun) version(ctx context.Context, out steps.Sink) {
	f := r.facts
	red, keyed := out.(steps.RedactingSink)
	switch {
	case !r.d.exists:
		f.Unknown("the Secret is not there", "version")
		return
	case !keyed:
		f.Unknown("no evidence is kept here, so that nothing would key it", "version")
		return
	}
	raw, err := r.c.Read(ctx, rotationSource{secret: true, name: r.name}.resource().Path(r.ns, r.name), cluster.AsJSON, nil)
	if err == nil {
		tellValues(raw, out)
		raw, err = red.Redacted(steps.MediaKubernetes, raw)
	}
	if err != nil {
		why := "its values could not be made tokens: " + report.Why(err)
		f.Unknown(why, "version")
		r.Gap("%s", why)
		return
	}
	if text, why := tokens(raw); why != "" {
		f.Unknown(why, "version")
	} else {
		f.Set("version", steps.StringOf(text))
	}
}

// tellValues names the values as secrets, so that a log that repeats one does not show it.
func tellValues(raw []byte, out steps.Sink) {
	var o struct {
		Data map[string]string `json:"data"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	for _, text := range o.Data {
		if value, err := base64.StdEncoding.DecodeString(text); err == nil && len(value) > 0 {
			out.Secret(text)
			out.Secret(string(value))
		}
	}
}

// tokens are those of a redacted Secret, by key. A value that is no token is never passed on.
func tokens(raw []byte) (text, why string) {
	var o struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Kind != "Secret" {
		return "", "what was kept of it cannot be read"
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		switch v := o.Data[key]; {
		case v == "":
			lines = append(lines, key+" is empty")
		case !strings.HasPrefix(v, tokenMark) || !strings.HasSuffix(v, ">") || len(v) > 100:
			return "", "the value of key " + steps.Clip(key, 253) + " was not hidden"
		default:
			lines = append(lines, key+" "+strings.TrimSuffix(strings.TrimPrefix(v, tokenMark), ">"))
		}
	}
	return steps.Clip(strings.Join(lines, ", "), 4000), ""
}
