package process

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"handrail/session/claim"
)

// MachineOf is the machine that handrail runs on.
func MachineOf(host string) claim.Machine {
	return claim.Machine{Host: host, Boot: bootID(), ID: ownID(machineID()), Up: sinceBoot()}
}

// ownID turns the id of a machine, which is not to be given away, into one that is
// handrail's own; machine-id(5) asks for that.
func ownID(id string) string {
	if id = strings.TrimSpace(id); id == "" {
		return ""
	}
	h := hmac.New(sha256.New, []byte(id))
	h.Write([]byte("handrail machine"))
	return hex.EncodeToString(h.Sum(nil)[:16])
}
