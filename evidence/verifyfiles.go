package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// hashBuffer keeps reading from costing more than hashing.
const hashBuffer = 256 << 10

func (v *verifier) checkBlobs() {
	extra, err := v.blobs()
	if err == nil && v.chainErr != nil {
		v.say(PropertyBlobs, Unproven, "%d with the bytes their names say; which were named can no longer be told", len(v.files.blobs))
		return
	}
	v.judge(PropertyBlobs, err, "%d with the bytes their names say; %d named by no entry", len(v.files.blobs), extra)
}

func (v *verifier) blobs() (extra int, err error) {
	if v.ledger.over != nil {
		return 0, v.ledger.over
	}
	buf := make([]byte, hashBuffer)
	found := 0
	for _, sum := range v.files.blobs {
		got, size, err := v.hash("blobs/sha256/"+sum[:2]+"/"+sum, buf)
		want, named := v.ledger.blobs[sum]
		switch {
		case err != nil:
			return 0, err
		case got != sum:
			return 0, fmt.Errorf("blob %s has other bytes than its name says", sum)
		case named && want.Size != size:
			return 0, fmt.Errorf("blob %s has %d bytes, its entry says %d", sum, size, want.Size)
		case named:
			found++
		default:
			extra++
		}
	}
	if missing := len(v.ledger.blobs) - found; missing > 0 {
		return 0, fmt.Errorf("%d that entries name are missing", missing)
	}
	return extra, nil
}

func (v *verifier) checkQuarantine() {
	err := v.quarantine()
	if err == nil && v.chainErr != nil {
		v.say(PropertyQuarantine, Unproven, "%d files with the bytes their names say; which were named can no longer be told", len(v.files.quarantine))
		return
	}
	v.judge(PropertyQuarantine, err, "%d files with the bytes their names say", len(v.files.quarantine))
}

func (v *verifier) quarantine() error {
	buf := make([]byte, hashBuffer)
	there := map[string]bool{}
	for _, name := range v.files.quarantine {
		_, sum, _ := strings.Cut(strings.TrimSuffix(name, ".bin"), "-")
		if got, _, err := v.hash("quarantine/"+name, buf); err != nil || got != sum {
			return fmt.Errorf("%q has other bytes than its name says", name)
		}
		there[name] = true
	}
	for _, name := range v.ledger.kept {
		if !there[name] {
			return fmt.Errorf("%q is missing", name)
		}
	}
	return nil
}

func (v *verifier) hash(name string, buf []byte) (string, int64, error) {
	f, err := openRegular(v.root, name)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	// The hash and the reader have shortcuts of their own that would not use the buffer.
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, io.LimitReader(f, maxBlob+1), buf)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && n > maxBlob {
		err = fmt.Errorf("%q is over 2 GiB", name)
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}
