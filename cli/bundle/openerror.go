package bundle

import (
	"errors"
	"fmt"

	"handrail/cli/process"
	"handrail/evidence"
	"handrail/evidence/disk"
	"handrail/session"
)

func ResumeError(err error) error {
	var renamed *session.RenamedError
	switch {
	case errors.As(err, &renamed):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: fmt.Sprintf("read it with `handrail bundle show`; to go on, resume the original, or move this folder to one named %s, and only if the original is gone", renamed.Want)}
	case errors.Is(err, disk.ErrLocked):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "look at it with `handrail bundle show`, or `handrail replay`; go on once the other handrail has ended"}
	case errors.Is(err, session.ErrHandover):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "say why you take over, with --why; both names and the reason are recorded; or follow it with `handrail follow`"}
	case errors.Is(err, evidence.ErrCorrupt):
		return &process.Problem{Code: process.ExitTampered, Err: err, Next: "see what is wrong with `handrail bundle verify`; nothing was changed"}
	case errors.Is(err, evidence.ErrUnknownEntry):
		return &process.Problem{Code: process.ExitUsage, Err: err, Next: "resume it with the handrail that wrote it"}
	}
	return err
}
