package lab

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// errPortTaken says that somebody bound a port between our choice and the server's bind; another choice helps.
var errPortTaken = errors.New("a port was taken by another program")

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
