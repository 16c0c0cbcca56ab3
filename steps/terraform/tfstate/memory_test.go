package tfstate

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// childFile names the state that a copy of the test reads, and childWay how.
const (
	childFile = "HANDRAIL_TFSTATE_FILE"
	childWay  = "HANDRAIL_TFSTATE_WAY"
)

// TestPeakMemory reads a large state in a process of its own, whose peak the
// kernel knows.
func TestPeakMemory(t *testing.T) {
	if name := os.Getenv(childFile); name != "" {
		readAsChild(t, name)
		return
	}
	name := written(t, peakInstances)
	for _, tc := range []struct {
		way   string
		limit int // MB resident, the runtime and the test framework included
	}{{"summary", peakSummary}, {"compare", peakCompare}} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
		cmd.Env = append(os.Environ(), childFile+"="+name, childWay+"="+tc.way, "GOGC=100", "GODEBUG=gcstoptheworld=1") // a loaded machine collects late
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", tc.way, err, out)
		}
		m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("%s: the child does not say its peak:\n%s", tc.way, out)
		}
		kb, _ := strconv.Atoi(string(m[1]))
		t.Logf("%s: peak of %d MB resident", tc.way, kb/1024)
		if kb/1024 >= tc.limit {
			t.Errorf("%s: peak of %d MB resident, want under %d", tc.way, kb/1024, tc.limit)
		}
	}
}

func readAsChild(t *testing.T, name string) {
	f := opened(t, name)
	defer f.Close()
	if os.Getenv(childWay) == "compare" {
		g := opened(t, name)
		defer g.Close()
		if d, err := Compare(f, g); err != nil || !d.Same() {
			t.Fatalf("Compare() = %+v, %v", d, err)
		}
	} else if d, err := Read(f, Options{Secret: func(string) {}}); err != nil || d.Managed != peakInstances {
		t.Fatalf("Read() = %+v, %v", d, err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(status))
}
