package corpus

import "testing"

func TestValues(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"FuzzJournal", "FuzzUnpack", "FuzzManifest", "FuzzRedact", "FuzzString", "FuzzSigners", "FuzzSignature", "FuzzStructures", "FuzzTeamRule"} {
		got, err := Values(target)
		if err != nil || len(got) < 20 {
			t.Errorf("%s: %d kept inputs, %v", target, len(got), err)
		}
	}
	for _, bad := range []string{"", "go test fuzz v2\nint(1)", "go test fuzz v1\nint(1", "go test fuzz v1\nfloat64(1)", "go test fuzz v1\n[]byte(x)"} {
		if v, err := parse(bad); err == nil {
			t.Errorf("parse(%q) = %v", bad, v)
		}
	}
	v, err := parse("go test fuzz v1\n[]byte(\"a\\xff\")\nint(-3)\nbyte('\\x05')\nstring(\"é\")\n")
	if err != nil || len(v) != 4 || string(v[0].([]byte)) != "a\xff" || v[1] != -3 || v[2] != byte(5) || v[3] != "é" {
		t.Errorf("parse = %q, %v", v, err)
	}
}
