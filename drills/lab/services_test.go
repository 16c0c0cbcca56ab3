//go:build unix

package lab

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServices starts each server that tests use, twice at once as tests of two
// packages do, and ends it. It listens on loopback and nowhere else.
func TestServices(t *testing.T) {
	t.Parallel()
	for _, part := range Services() {
		t.Run(part.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := StartService(t.Context(), Options{}, part.Name, dir)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(s.Addr, "127.0.0.1:") || listensOnLoopback(t, part.Name, s.pid) == 0 {
				t.Errorf("%s listens on %s", part.Name, s.Addr)
			}
			twin, err := StartService(t.Context(), Options{}, part.Name, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := twin.Close(); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if answer, err := http.Get(s.URL); err == nil {
				answer.Body.Close()
				t.Errorf("%s answers after its end", part.Name)
			}
		})
	}
	if _, err := Service(t.Context(), Options{}, "nothing"); err == nil {
		t.Error("a service that does not exist was found")
	}
}

// A service whose port was taken meanwhile gets another one.
func TestServiceFindsAnotherPort(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tried := 0
	o := Options{ports: func(n int) ([]int, error) {
		if tried++; tried == 1 {
			return []int{taken.Addr().(*net.TCPAddr).Port}, nil
		}
		return freePorts(n)
	}}
	s, err := StartService(t.Context(), o, "registry", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if tried < 2 || s.Addr == taken.Addr().String() {
		t.Errorf("it is at %s after %d tries", s.Addr, tried)
	}
}
