package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// What the stand-ins for a cloud and for Keycloak share: a folder with the address, and a log of what may have written.

// AddressIn is where the server of a folder listens; fs.ErrNotExist says not yet.
func AddressIn(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, fileAddress))
	if err == nil && !strings.HasSuffix(string(raw), "\n") {
		return "", fs.ErrNotExist // it is being written
	}
	return strings.TrimSpace(string(raw)), err
}

// LinesOf are the JSON documents of a file, one to a line.
func LinesOf[T any](name string) (out []T, err error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// ServeIn serves on loopback until ctx ends, and writes the address into the folder.
func ServeIn(ctx context.Context, dir string, by http.Handler) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, fileAddress), []byte(l.Addr().String()+"\n"), 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	srv := &http.Server{Handler: by, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
