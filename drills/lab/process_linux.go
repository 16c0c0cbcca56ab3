package lab

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

func dieWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// bootID changes with every boot, so pids and start times of an earlier one mean nothing.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// startMark identifies a process beside its pid: clock ticks between boot and its start. Empty means that no process of
// that pid runs; one that waits for its parent to collect it (Z, X) runs no more.
func startMark(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return parseStartMark(raw)
}

// parseStartMark reads field 22 of stat. The name in field 2 may hold blanks and brackets, so fields are counted from
// the last bracket.
func parseStartMark(raw []byte) string {
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 20 || bytes.ContainsAny(fields[0], "ZX") {
		return ""
	}
	return string(fields[19])
}

// memory is what a process has resident, in bytes, 0 when unknown.
func memory(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// socket is one of a process, as the kernel's tables have it.
type socket struct {
	here, there netip.Addr
	listens     bool // for connections, or for packets of anyone
}

// sockets are those of one process.
func sockets(pid int) ([]socket, error) {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return nil, err
	}
	var own []string
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil {
			continue // closed meanwhile
		}
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			own = append(own, strings.TrimSuffix(inode, "]"))
		}
	}
	var out []socket
	// What states are called: 0A listens for connections, 07 is a socket of packets that leads nowhere.
	for table, listens := range map[string]string{"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if os.IsNotExist(err) && strings.HasSuffix(table, "6") {
			continue // a kernel without it
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(raw)) {
			f := strings.Fields(line)
			if len(f) < 10 || !slices.Contains(own, f[9]) {
				continue
			}
			here, err := socketAddress(f[1])
			if err != nil {
				return nil, err
			}
			there, err := socketAddress(f[2])
			if err != nil {
				return nil, err
			}
			out = append(out, socket{here: here, there: there, listens: f[3] == listens})
		}
	}
	return out, nil
}

// socketAddress decodes the kernel's form: words of four bytes, each in the machine's order, which is a little-endian
// one wherever the lab runs.
func socketAddress(text string) (netip.Addr, error) {
	host, _, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	if err != nil {
		return netip.Addr{}, err
	}
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word)
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.Addr{}, fmt.Errorf("%q is no address", text)
	}
	return addr.Unmap(), nil
}

// Listeners are the addresses at which a process listens.
func Listeners(pid int) ([]netip.Addr, error) {
	all, err := sockets(pid)
	var out []netip.Addr
	for _, s := range all {
		if s.listens {
			out = append(out, s.here)
		}
	}
	return out, err
}
