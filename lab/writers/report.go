package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// keepReport writes, as long as ctx lives, what the script of kube/node-report
// would print on this node: its file tree, and the programs that it runs. It is
// honest, and of this node alone.
func keepReport(ctx context.Context, dir, name string) {
	path := filepath.Join(dir, "reports", name+".report")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		complain(err)
		return
	}
	for ctx.Err() == nil {
		if err := replace(path, []byte(report(dir, name, time.Now()))); err != nil {
			complain(err)
		}
		wait(ctx, time.Second)
	}
}

func report(dir, name string, now time.Time) string {
	root := filepath.Join(dir, "root")
	var b strings.Builder
	fmt.Fprintf(&b, "handrail-node-report|1\nnode|%s\nat|%s\nuser|0\n", name, now.UTC().Format(time.RFC3339))
	item := func(section, what, detail, hash string) {
		fmt.Fprintf(&b, "item|%s|%s|%s|%s\n", section, plain(what), plain(detail), hash)
	}
	done := func(section string) { fmt.Fprintf(&b, "done|%s\n", section) }
	done("timers")
	for _, f := range files(root, "etc/cron.d") {
		item("cron", "file "+strings.TrimPrefix(f, root), oneLine(f), sum(f))
	}
	done("cron")
	for _, p := range unitProcesses(dir) {
		exe := strings.TrimPrefix(p.exe, root)
		if strings.HasPrefix(p.title, "[") {
			item("spoofed", p.title+" "+p.comm, fmt.Sprintf("pid %s parent %s exe %s", p.pid, p.parent, exe), sum(p.exe))
		}
		item("processes", exe+" "+p.comm, "pid "+p.pid+" it runs from a hidden folder; a kubeconfig is open;", sum(p.exe))
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		fmt.Fprintln(&b, "unread|processes|/proc is not there")
	} else {
		done("processes")
		done("spoofed")
	}
	done("immutable")
	for _, f := range files(root, "etc/systemd/system") {
		if to, err := os.Readlink(f); err == nil && to == os.DevNull {
			continue // masked
		}
		item("supervised", "service "+filepath.Base(f), "active "+oneLine(f), sum(f))
	}
	for _, section := range []string{"supervised", "static_pods", "containers"} {
		done(section)
	}
	text := b.String()
	return text + fmt.Sprintf("end|%d|%d\n", strings.Count(text, "\n"), cksum([]byte(text)))
}

// plain is one line of printable text without the sign between fields.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '|':
			return '!'
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 400)]
}

func files(root, folder string) []string {
	found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*"))
	return found
}

func oneLine(path string) string {
	raw, _ := os.ReadFile(path)
	return strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", ";")
}

func sum(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "unread"
	}
	h := sha256.Sum256(raw)
	return hex.EncodeToString(h[:])[:16]
}

// proc is what /proc says of a program that a unit runs.
type proc struct{ pid, parent, exe, comm, title string }

func unitProcesses(dir string) []proc {
	records, _ := filepath.Glob(filepath.Join(dir, "units", "*.json"))
	var out []proc
	for _, file := range records {
		var u unit
		if readPlan("", file, &u) != nil {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(u.Dir, "pid"))
		if err != nil {
			continue
		}
		pid := strings.TrimSpace(string(raw))
		if exe, err := os.Readlink("/proc/" + pid + "/exe"); err != nil || exe != u.Program {
			continue // it has ended
		}
		out = append(out, proc{pid: pid, parent: "1", exe: u.Program, comm: filepath.Base(u.Program), title: u.Title})
	}
	return out
}

// cksum is the CRC of POSIX: that of the bytes and then of how many they are.
func cksum(text []byte) uint32 {
	crc := uint32(0)
	add := func(b byte) {
		crc ^= uint32(b) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	for _, b := range text {
		add(b)
	}
	for n := len(text); n > 0; n >>= 8 {
		add(byte(n))
	}
	return ^crc
}
