package index

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkProcess asks the same of 2,000 bundles by `handrail bundle query` and
// by ripgrep, both as processes from their start to their end, in turns. What a
// person sees without flags is the first lines of each incident, the newest
// first, a hundred in all; ripgrep then does what comes next to it: the first
// three lines of each file, in any order. HANDRAIL_BIN names the program.
func BenchmarkProcess(b *testing.B) {
	bin := os.Getenv("HANDRAIL_BIN")
	if bin == "" {
		b.Fatal("HANDRAIL_BIN does not name handrail: set it to the program that `make build` leaves")
	}
	s := large(b)
	if _, err := s.Search(Query{Text: []string{"warm"}}); err != nil {
		b.Fatal(err)
	}
	rg, noRipgrep := exec.LookPath("rg")
	for _, c := range []struct {
		name     string
		ask, asG []string
	}{
		{"rare", []string{"--limit", "0", "EXC-1234"}, []string{"EXC-1234"}},
		{"key", []string{"--limit", "0", "-k", "exception=EXC-1234"}, []string{"EXC-1234"}},
		{"common/by-incident", []string{"timed out after"}, []string{"-m", "3", "timed out after"}},
		{"common/all-2000-lines", []string{"--limit", "0", "takes the lock away"}, []string{"takes the lock away"}},
		{"common/all-12000-lines", []string{"--limit", "0", "timed out after"}, []string{"timed out after"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ours, theirs []cost
			for b.Loop() {
				ours = append(ours, run(b, bin, append([]string{"bundle", "query"}, c.ask...)))
				if noRipgrep == nil {
					theirs = append(theirs, run(b, rg, slices.Concat([]string{"-i", "-F", "--no-ignore", "--hidden"}, c.asG, []string{s.dir})))
				}
			}
			us := middle(ours)
			b.ReportMetric(us.clock.Seconds()*1e3, "ms")
			b.ReportMetric(us.cpu.Seconds()*1e3, "cpu-ms")
			if noRipgrep == nil {
				rg := middle(theirs)
				b.ReportMetric(rg.clock.Seconds()/us.clock.Seconds(), "x-ripgrep")
				b.ReportMetric(rg.cpu.Seconds()/us.cpu.Seconds(), "x-ripgrep-cpu")
			}
		})
	}
}

// cost is what one run took.
type cost struct{ clock, cpu time.Duration }

func run(b *testing.B, name string, args []string) cost {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+benchCorpus.dir)
	from := time.Now()
	err := cmd.Run()
	c := cost{clock: time.Since(from)}
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // nothing found
		b.Fatal(name, args, err)
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return c
}

// middle is the median of each.
func middle(list []cost) cost {
	by := func(of func(cost) time.Duration) time.Duration {
		var all []time.Duration
		for _, c := range list {
			all = append(all, of(c))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return cost{by(func(c cost) time.Duration { return c.clock }), by(func(c cost) time.Duration { return c.cpu })}
}
