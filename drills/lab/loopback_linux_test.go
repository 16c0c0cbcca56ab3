package lab

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkLoopback reads the kernel's tables: every socket that a process of the lab holds must be bound to loopback and,
// when connected, lead to loopback.
func checkLoopback(t *testing.T, l *Lab) {
	listening := 0
	for name, pid := range pids(t, l) {
		listening += listensOnLoopback(t, name, pid)
	}
	if listening < 4 {
		t.Errorf("saw %d listening sockets, want the four of the lab: the check does not look at the right tables", listening)
	}
}

// listensOnLoopback checks the sockets of one process, and says how many of them listen.
func listensOnLoopback(t *testing.T, name string, pid int) (listening int) {
	t.Helper()
	own := sockets(t, pid)
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			f := strings.Fields(line)
			if len(f) < 10 || !slices.Contains(own, f[9]) {
				continue
			}
			here, there := address(t, f[1]), address(t, f[2])
			if !here.IsLoopback() {
				t.Errorf("%s is bound to %s", name, here)
			}
			if f[3] == "0A" {
				listening++
			} else if !there.IsLoopback() && !there.IsUnspecified() {
				t.Errorf("%s is connected to %s", name, there)
			}
		}
	}
	return listening
}

func sockets(t *testing.T, pid int) []string {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	var inodes []string
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

// address decodes the kernel's form: words of four bytes, each in the machine's order.
func address(t *testing.T, text string) netip.Addr {
	t.Helper()
	host, _, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		t.Fatalf("no address: %q", text)
	}
	return addr.Unmap()
}
