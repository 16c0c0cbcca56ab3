package lab

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// ErrPortTaken says that another program bound a port between our choice and the server's bind; another choice helps.
var ErrPortTaken = errors.New("a port was taken by another program")

// freePorts asks the kernel. All are held until the last is known, so that they differ.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("choosing ports on loopback: %w", err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// handedOut are the ports that LastingPorts gave away in this process: they look free until
// their server binds them.
var handedOut struct {
	sync.Mutex
	ports map[int]bool
}

// LastingPorts chooses ports that the kernel gives to no one who asks for any: a
// server that binds them only after seconds finds them free.
func LastingPorts(n int) ([]int, error) {
	const low, high = 20_000, 32_000
	var ports []int
	handedOut.Lock()
	defer handedOut.Unlock()
	if handedOut.ports == nil || len(handedOut.ports) > (high-low)/2 {
		handedOut.ports = map[int]bool{}
	}
	for range 1000 {
		if len(ports) == n {
			for _, port := range ports {
				handedOut.ports[port] = true
			}
			return ports, nil
		}
		p, err := rand.Int(rand.Reader, big.NewInt(high-low))
		if err != nil {
			return nil, err
		}
		port := low + int(p.Int64())
		if handedOut.ports[port] || slices.Contains(ports, port) {
			continue
		}
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return nil, fmt.Errorf("choosing ports on loopback: %d to %d are taken", low, high)
}

// portTaken looks for the one failure that another try cures. All three servers pass on the kernel's words.
func portTaken(dir string) bool {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return false
	}
	for _, log := range logs {
		if filepath.Base(log) == fileAudit {
			continue
		}
		if raw, err := os.ReadFile(log); err == nil && bytes.Contains(raw, []byte("address already in use")) {
			return true
		}
	}
	return false
}
