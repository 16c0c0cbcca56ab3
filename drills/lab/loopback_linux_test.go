package lab

import (
	"net"
	"os"
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
	all, err := sockets(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !s.here.IsLoopback() {
			t.Errorf("%s is bound to %s", name, s.here)
		}
		if s.listens {
			listening++
		} else if !s.there.IsLoopback() && !s.there.IsUnspecified() {
			t.Errorf("%s is connected to %s", name, s.there)
		}
	}
	return listening
}

// A server that listens on all addresses is refused: the process of this test is one.
func TestServerOutsideOfLoopback(t *testing.T) {
	own := &Server{Name: "here", pid: os.Getpid()}
	if err := own.inside(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := own.inside(); err == nil {
		t.Error("a server that listens on all addresses is not refused")
	}
}
