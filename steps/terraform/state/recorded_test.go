package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestRecorded reads one address of a state beside its deposed object and a data source of the same name.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	instance := func(mode, deposed, rv string) string {
		return `{"mode":"` + mode + `","type":"kubernetes_config_map","name":"flags","provider":"provider[\"x/y/z\"]","instances":[{"schema_version":0,` + deposed +
			`"attributes":{"data":{"a":"` + rv + `"},"metadata":[{"name":"flags","namespace":"shop","uid":"u-` + rv + `","resource_version":"` + rv + `"}]}}]}`
	}
	state := `{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l-1","outputs":{},"resources":[` +
		instance("data", "", "1") + "," + instance("managed", `"deposed":"0123abcd",`, "2") + "," + instance("managed", "", "3") + `]}`
	if err := os.WriteFile(filepath.Join(dir, "terraform.tfstate"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(address string) map[string]steps.Value {
		t.Helper()
		obs, err := RecordedProbe{Env: steps.Env{Dir: dir, Home: dir, Now: time.Now}}.Probe(t.Context(), steps.Params{"address": steps.StringOf(address)}, stepstest.NewSink())
		if err != nil {
			t.Fatal(err)
		}
		return obs.Facts
	}
	f := read("kubernetes_config_map.flags")
	if !f["recorded"].Bool() || f["name"].Text() != "flags" || f["namespace"].Text() != "shop" || f["uid"].Text() != "u-3" || f["rv"].Text() != "3" || f["entries"].Table()["a"] != "3" {
		t.Errorf("recorded = %+v", f)
	}
	if f = read("kubernetes_config_map.other"); f["recorded"].Bool() || f["uid"].Known() || len(f["entries"].Table()) != 0 {
		t.Errorf("not recorded = %+v", f)
	}
}
