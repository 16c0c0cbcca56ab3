package process

import (
	"runtime/debug"
	"testing"
)

// TestVersionIsThatOfTheCommit, and says where more than the commit was built.
func TestVersionIsThatOfTheCommit(t *testing.T) {
	t.Parallel()
	vcs := func(kv ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, debug.BuildSetting{Key: "vcs." + kv[i], Value: kv[i+1]})
		}
		return out
	}
	for want, info := range map[string]*debug.BuildInfo{
		"devel":                   {},
		"devel (aaaaaaaaaaaa)":    {Main: debug.Module{Version: "(devel)"}, Settings: vcs("revision", "aaaaaaaaaaaabbbb", "modified", "false")},
		"v1.2.3 (aaaaaaaaaaaa)":   {Main: debug.Module{Version: "v1.2.3"}, Settings: vcs("revision", "aaaaaaaaaaaabbbb", "time", "2026-11-21T02:14:00Z")},
		"v1.2.3 (aaaa, modified)": {Main: debug.Module{Version: "v1.2.3"}, Settings: vcs("revision", "aaaa", "modified", "true")},
	} {
		v := versionOf(info)
		if v.String() != want {
			t.Errorf("version %q, want %q", v, want)
		}
		if len(info.Settings) == 2 && info.Settings[1].Key == "vcs.time" && v.Time != "2026-11-21T02:14:00Z" {
			t.Errorf("time %q", v.Time)
		}
	}
}
