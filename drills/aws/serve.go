package aws

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/drills/bucket"
)

const largestBody = 1 << 20

// Prepare makes the folder of a world with an access key for each name, and returns their ids and secrets.
func Prepare(dir string, world []byte, names ...string) (map[string][2]string, error) {
	if _, err := ReadWorld(world); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	keys, text := map[string][2]string{}, ""
	for _, name := range names {
		keys[name] = [2]string{"AKIA" + strings.ToUpper(random(8)), random(20)}
		text += keys[name][0] + " " + keys[name][1] + " " + name + "\n"
	}
	return keys, errors.Join(os.WriteFile(filepath.Join(dir, "world.json"), world, 0o600), os.WriteFile(filepath.Join(dir, "keys"), []byte(text), 0o600))
}

func worldIn(dir string) (World, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "world.json"))
	if err != nil {
		return World{}, err
	}
	return ReadWorld(raw)
}

// Change changes the world of a folder, as others do beside the operator.
func Change(dir string, change func(*World) error) error {
	w, err := worldIn(dir)
	if err != nil {
		return err
	}
	if err := change(&w); err != nil {
		return err
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, "world.json")
	return errors.Join(os.WriteFile(name+".tmp", raw, 0o600), os.Rename(name+".tmp", name)) // a request reads all of it
}

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Key is the access key of a name.
func Key(dir, name string) (id, secret string, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, "keys"))
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) == 3 && words[2] == name {
			return words[0], words[1], nil
		}
	}
	return "", "", fs.ErrNotExist
}

// Write is a request that may have written.
type Write struct {
	At        time.Time
	Operation string
	Object    string
	Who       string
	Agent     string
	ID        string // of the request
	Status    int
}

// Writes are those that the server of a folder answered.
func Writes(dir string) ([]Write, error) {
	return bucket.LinesOf[Write](filepath.Join(dir, "writes.log"))
}

// Serve serves the world of a folder until ctx ends or the folder is gone.
func Serve(ctx context.Context, dir string) (err error) {
	ctx, cancel := bucket.WhileThere(ctx, dir)
	defer cancel()
	raw, err := os.ReadFile(filepath.Join(dir, "keys"))
	if err != nil {
		return err
	}
	keys := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if words := strings.Fields(line); len(words) == 3 {
			keys[words[0]] = words[2]
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "writes.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return bucket.ServeIn(ctx, dir, New(func() (World, error) { return worldIn(dir) }, keys, log, time.Now))
}
