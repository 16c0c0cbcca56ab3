package bucket

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files and folders in the folder of a server.
const (
	fileKeys    = "keys"
	fileAddress = "address"
	fileLog     = "requests.log"
	dirObjects  = "objects"
)

// Key is by what an account signs its requests.
type Key struct{ Access, Secret string }

// Prepare makes the folder of a server with an empty bucket and a key for each account.
func Prepare(dir, bucket string, accounts ...string) error {
	if err := os.MkdirAll(filepath.Join(dir, dirObjects, bucket), 0o700); err != nil {
		return fmt.Errorf("folder of the bucket: %w", err)
	}
	var keys bytes.Buffer
	for _, name := range accounts {
		var word [26]byte
		_, _ = rand.Read(word[:]) // it never fails
		text := hex.EncodeToString(word[:])
		fmt.Fprintf(&keys, "%s DRILL%s %s\n", name, strings.ToUpper(text[:12]), text[12:])
	}
	return os.WriteFile(filepath.Join(dir, fileKeys), keys.Bytes(), 0o600)
}

// KeyOf is the key of an account.
func KeyOf(dir, account string) (Key, error) {
	all, err := readKeys(dir)
	for access, a := range all {
		if a.name == account {
			return Key{access, a.secret}, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("the bucket knows no account %q", account)
	}
	return Key{}, err
}

// account is who holds an access key.
type account struct{ name, secret string }

// readKeys reads the accounts by their access key.
func readKeys(dir string) (map[string]account, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileKeys))
	if err != nil {
		return nil, fmt.Errorf("keys of the bucket: %w", err)
	}
	out := map[string]account{}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) == 3 {
			out[f[1]] = account{f[0], f[2]}
		}
	}
	return out, nil
}

// Address is where the server listens; fs.ErrNotExist while it does not.
func Address(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileAddress))
	return string(raw), err
}

// ObjectFile is the file that holds an object.
func ObjectFile(dir, bucket, key string) string {
	return filepath.Join(dir, dirObjects, bucket, filepath.FromSlash(key))
}

// Request is one request as the server logged it.
type Request struct {
	At     time.Time `json:"at"`
	ID     string    `json:"id"`
	Who    string    `json:"who,omitempty"` // account, "" for one that is not known
	Agent  string    `json:"agent"`
	Method string    `json:"method"`
	Object string    `json:"object"` // bucket/key, or the bucket
	Status int       `json:"status"`
}

// Writes reports whether the request changed an object.
func (r Request) Writes() bool {
	return (r.Method == "PUT" || r.Method == "DELETE") && r.Status/100 == 2
}

// Requests reads the log of a server.
func Requests(dir string) ([]Request, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("log of the bucket: %w", err)
	}
	var out []Request
	for line := range bytes.Lines(raw) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("log of the bucket: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}
