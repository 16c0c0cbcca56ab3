package runbooks

import (
	"strings"
	"testing"
)

// TestBindPatch: a parameter that is a patch is refused where it is none, and pairs become its operations.
func TestBindPatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ under, text, want string }{
		{"/spec/hard", "pods=6, requests.cpu=2", `[{"op":"add","path":"/spec/hard/pods","value":"6"},{"op":"add","path":"/spec/hard/requests.cpu","value":"2"}]`},
		{"/data", "reason=done, see INC-7,status=open", `[{"op":"add","path":"/data/reason","value":"done, see INC-7"},{"op":"add","path":"/data/status","value":"open"}]`},
		{"/data", "a/b=x=y", `[{"op":"add","path":"/data/a~1b","value":"x=y"}]`},
		{"/data", "[{op: remove, path: /data/lock}]", "[{op: remove, path: /data/lock}]"},
		{"/data", "pods=", "! pods has no value"},
		{"/data", "more room", "! \"more room\" is not a patch; write KEY=VALUE"},
		{"/data", "[]", "! it has no operation"},
		{"/data", "[{op: add}]", "! operation 1 of it lacks op"},
		{"/data", "[pods", "! it is not a list of operations"},
		{"/", "pods=6", "! \"pods=6\" is not a patch; write operations"},
	} {
		got, err := patchOf(c.under, c.text)
		if want, refused := strings.CutPrefix(c.want, "! "); refused != (err != nil) || refused && !strings.HasPrefix(err.Error(), want) || !refused && got != want {
			t.Errorf("patchOf(%s, %q) = %s, %v, want %s", c.under, c.text, got, err, c.want)
		}
	}
}
