//go:build !unix

package lab

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
)

var errUnsupported = errors.New("the practice lab needs Linux or macOS; on Windows use WSL")

func lockFile(context.Context, string, func()) (*os.File, error) { return nil, errUnsupported }
func isHeld(string) bool                                         { return false }
func ownGroup(*exec.Cmd)                                         {}
func endGroup(*exec.Cmd)                                         {}
func asNobody(*exec.Cmd)                                         {}
func giveToNobody(string) error                                  { return errUnsupported }
func detached(*exec.Cmd)                                         {}
func bootID() string                                             { return "" }
func startMark(int) string                                       { return "" }
func memory(int) int64                                           { return 0 }

// Listeners are not known where no lab runs.
func Listeners(int) ([]netip.Addr, error) { return nil, errUnsupported }

var (
	endPolitely = os.Interrupt
	endNow      = os.Kill
	endQuickly  = os.Interrupt
)
