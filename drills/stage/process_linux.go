package stage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// StartMark tells a process from a later one with its pid: clock ticks between
// boot and its start, "" when it does not run.
func StartMark(pid int) string {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name in field 2 may hold blanks and brackets.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 20 || bytes.ContainsAny(fields[0], "ZX") {
		return ""
	}
	return string(fields[19])
}

// Kill kills every process that carries the drill's mark in its environment, and
// those that the drill wrote down: a server may write its title over its environment.
// It returns how many it found. The handle is taken before the look, so that a
// pid used again in between is not hit.
func Kill(rec Record) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("reading the process table: %w", err)
	}
	found := 0
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if start := StartMark(pid); start != "" && (carries(pid, rec.Nonce) || slices.Contains(rec.Processes, Process{PID: pid, Start: start})) {
			found++
			if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return found, fmt.Errorf("ending process %d: %w", pid, errors.Join(err, p.Release()))
			}
		}
		if err := p.Release(); err != nil {
			return found, err
		}
	}
	return found, nil
}

// carries reads the environment of a process; that of another user cannot be
// read, and the drill starts nothing as another user.
func carries(pid int, nonce string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if string(kv) == Marker+nonce {
			return true
		}
	}
	return false
}
