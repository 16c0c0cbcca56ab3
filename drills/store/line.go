package store

import (
	"io"
	"net"
	"sync"

	"handrail/steps/fault"
)

// line passes connections on to a server, and returns where it listens. A client that goes without a word
// leaves its session behind: a server does not hear of a machine that was taken away. One that says that it
// ends is heard, and the server closes.
func (s *server) line(to string) (host, port string, err error) {
	at, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	var mu sync.Mutex
	var open []net.Conn
	s.end = append(s.end, func() {
		_ = at.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	})
	go func() { // ends with the listener
		defer fault.To(func(error) { _ = at.Close() })
		for {
			here, err := at.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp4", to)
			if err != nil {
				_ = here.Close()
				continue
			}
			mu.Lock()
			open = append(open, here, there)
			mu.Unlock()
			go func() { // without a word of its end
				defer fault.To(func(error) { _ = there.Close() })
				_, _ = io.Copy(there, here)
			}()
			go func() {
				defer fault.To(func(error) { _ = here.Close() })
				_, _ = io.Copy(here, there)
				_ = here.Close()
				_ = there.Close()
			}()
		}
	}()
	return net.SplitHostPort(at.Addr().String())
}
