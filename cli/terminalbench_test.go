package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// BenchmarkTerminal measures what a program costs while it stands on a screen:
// processor time and memory without a key pressed, and bytes written for a
// key. Peers are measured in the same way. `make bench` gives it the built
// program and thirty seconds for each state.
func BenchmarkTerminal(b *testing.B) {
	span := 3 * time.Second
	if s, err := time.ParseDuration(os.Getenv("HANDRAIL_IDLE")); err == nil {
		span = s
	}
	for _, size := range []struct{ rows, cols int }{{24, 80}, {45, 140}} {
		for _, c := range standing(b) {
			b.Run(fmt.Sprintf("%s/%dx%d", c.name, size.cols, size.rows), func(b *testing.B) {
				for b.Loop() {
					s := stand(b, c, size.rows, size.cols)
					for _, k := range c.keys {
						b.ReportMetric(s.costs(k.keys), k.name+"-bytes/key")
					}
					idle := min(span, c.most)
					s.quiet(b)
					cpu, wrote := s.cpu(b), s.wrote()
					s.pass(idle)
					b.ReportMetric((s.cpu(b)-cpu).Seconds()/idle.Seconds()*100, "cpu-%")
					b.ReportMetric(float64(s.wrote()-wrote)/idle.Seconds(), "idle-bytes/s")
					b.ReportMetric(s.resident(b), "rss-MB")
					s.end()
				}
			})
		}
	}
}

// subject is a program in a state.
type subject struct {
	name  string
	start func() *exec.Cmd
	shows string
	walk  []struct{ keys, shows string } // to the state
	keys  []struct{ name, keys string }  // two keys, there and back
	most  time.Duration                  // the state lasts no longer
}

func standing(b *testing.B) []subject {
	type step = struct{ keys, shows string }
	type pair = struct{ name, keys string }
	const ever = time.Hour
	incident := func() *exec.Cmd {
		home := b.TempDir()
		ws := filepath.Join(home, "ws")
		if err := os.Mkdir(ws, 0o700); err != nil {
			b.Fatal(err)
		}
		for name, text := range map[string]string{"main.tf": `resource "terraform_data" "a" {}`,
			"terraform.tfstate": `{"version":4,"terraform_version":"1.12.6","serial":3,"lineage":"0d1f3e5c-8a64-4a1c-9a0e-3a8a8d1f9b11","outputs":{},"resources":[]}`} {
			if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		c := frameCommand(b, home)
		c.Dir = ws
		c.Env = append(c.Env, "LC_ALL=C.UTF-8")
		c.Args = append(c.Args, "start", "state-lock", "-p", "dir=.")
		return c
	}
	long := filepath.Join(b.TempDir(), "long")
	if err := os.WriteFile(long, []byte(strings.Repeat(strings.Repeat("a line of a log ", 9)+"\n", 2000)), 0o600); err != nil {
		b.Fatal(err)
	}
	all := []subject{
		{name: "home", shows: "RUNBOOKS", most: ever, start: func() *exec.Cmd {
			c := frameCommand(b, b.TempDir())
			c.Env = append(c.Env, "LC_ALL=C.UTF-8")
			return c
		}, keys: []pair{{"row", "\x1b[B|\x1b[A"}}},
		{name: "incident", start: incident, shows: "Read", most: ever, walk: []step{{"\r", "✓ read"}},
			keys: []pair{{"step", "]|["}}},
		{name: "note", start: incident, shows: "Read", most: ever, walk: []step{{"t", "esc cancel"}},
			keys: []pair{{"letter", "a|b"}}},
		{name: "evidence", start: incident, shows: "Read", most: ever, walk: []step{{"\r", "✓ read"}, {"e", "bundle.opened|open"}},
			keys: []pair{{"line", "\x1b[A|\x1b[B"}}},
		{name: "watch", start: incident, shows: "Read", most: 15 * time.Second,
			walk: []step{{"\r", "✓ read"}, {":", "esc close"}, {"stays free", "stays free"}, {"\r", "Take the first|first sample"}, {"\r", "1 of 2"}}},
	}
	for _, peer := range []struct {
		name, shows string
		args        []string
		keys        []pair
	}{{"peer=less", "a line of a log", []string{long}, []pair{{"line", "j|k"}}}, {"peer=top", "PID", []string{"-d", "1"}, nil}} {
		program, args, _ := strings.Cut(peer.name, "=")
		_ = program
		path, err := exec.LookPath(args)
		if err != nil {
			continue // a peer that is not there cannot be compared with
		}
		all = append(all, subject{name: peer.name, shows: peer.shows, most: ever, keys: peer.keys, start: func() *exec.Cmd {
			c := exec.CommandContext(b.Context(), path, peer.args...)
			c.Env = []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
			return c
		}})
	}
	return all
}

// stander is a program on a terminal that is not drawn.
type stander struct {
	cmd  *exec.Cmd
	pty  *os.File
	mu   sync.Mutex
	all  bytes.Buffer
	last time.Time
	over chan struct{}
}

func stand(b *testing.B, c subject, rows, cols int) *stander {
	b.Helper()
	cmd := c.start()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
	if err != nil {
		b.Fatal(err)
	}
	s := &stander{cmd: cmd, pty: f, over: make(chan struct{})}
	go func() {
		defer close(s.over)
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			s.mu.Lock()
			s.all.Write(buf[:n])
			s.last = time.Now()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.await(b, 0, c.shows)
	for _, w := range c.walk {
		s.quiet(b)
		from := s.wrote()
		_, _ = f.WriteString(w.keys)
		s.await(b, from, w.shows)
	}
	s.quiet(b)
	return s
}

func (s *stander) wrote() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

func (s *stander) pass(d time.Duration) { time.Sleep(d) }

// await waits for one of the texts to be written.
func (s *stander) await(b *testing.B, from int, shows string) {
	b.Helper()
	for range 3000 {
		s.mu.Lock()
		text := s.all.String()[from:]
		s.mu.Unlock()
		for _, one := range strings.Split(shows, "|") {
			if strings.Contains(text, one) {
				return
			}
		}
		s.pass(10 * time.Millisecond)
	}
	b.Fatalf("never wrote %q:\n%q", shows, s.all.String()[from:])
}

// quiet waits until nothing but a clock has been written for a while.
func (s *stander) quiet(b *testing.B) {
	b.Helper()
	for range 100 {
		before := s.wrote()
		s.pass(300 * time.Millisecond)
		if s.wrote()-before < 40 {
			return
		}
	}
	b.Fatal("it never became quiet")
}

// costs are the bytes that a key costs, the middle of many presses.
func (s *stander) costs(keys string) float64 {
	there, back, _ := strings.Cut(keys, "|")
	var all []int
	for i := range 20 {
		k := there
		if i%2 == 1 {
			k = back
		}
		before := s.wrote()
		_, _ = s.pty.WriteString(k)
		s.pass(120 * time.Millisecond)
		all = append(all, s.wrote()-before)
	}
	sum := 0
	for _, n := range all {
		sum += n
	}
	return float64(sum) / float64(len(all))
}

// cpu is the processor time so far, of the process and those it waited for.
func (s *stander) cpu(b *testing.B) time.Duration {
	b.Helper()
	src, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(src[bytes.LastIndexByte(src, ')')+1:]))
	ticks := 0
	for _, n := range f[11:15] { // utime, stime, cutime, cstime
		v, err := strconv.Atoi(n)
		if err != nil {
			b.Fatal(err)
		}
		ticks += v
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ
}

func (s *stander) resident(b *testing.B) float64 {
	b.Helper()
	src, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(src), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}

func (s *stander) end() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	_ = s.pty.Close()
	<-s.over
}
