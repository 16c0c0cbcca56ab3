//go:build !unix

package lab

import (
	"context"
	"errors"
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

var (
	endPolitely = os.Interrupt
	endNow      = os.Kill
	endQuickly  = os.Interrupt
)
