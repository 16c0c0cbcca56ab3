package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Replica is a second etcd and API server that hold what the lab held at one moment, and hear nothing of it since: a
// copy that was restored from a snapshot. It knows the accounts of the lab, has its certificate, and so the UID of its
// cluster. It has no controllers.
type Replica struct {
	URL     string
	Program string     // that plays each part by its first argument
	Parts   [][]string // the arguments of each, in the order in which they are started
	lab     *Lab
}

// Replica copies the store of the lab into dir, which must be there and empty, and says how the servers of the copy
// are started. The lab goes on meanwhile, and notices nothing.
func (l *Lab) Replica(ctx context.Context, dir string) (*Replica, error) {
	if err := l.copyStore(ctx, dir); err != nil {
		return nil, fmt.Errorf("copying the store of the lab: %w", err)
	}
	free, err := LastingPorts(3)
	if err != nil {
		return nil, err
	}
	p := ports{etcd: free[0], peer: free[1], api: free[2]}
	r := &Replica{URL: p.url(), Program: l.bins["cluster"], lab: l}
	for _, part := range processes(l.dir, p) {
		args := slices.Clone(part.Args)
		switch part.Name {
		case "etcd":
			// What another name would change is the member, which is in the copy.
			args = swap(args, "--data-dir=", filepath.Join(dir, "etcd"))
		case "kube-apiserver":
			args = swap(args, "--audit-log-path=", filepath.Join(dir, fileAudit))
			args = swap(args, "--cert-dir=", dir)
			args = append(args, "--tls-cert-file="+servingCA(l.dir), "--tls-private-key-file="+strings.TrimSuffix(servingCA(l.dir), ".crt")+".key")
		default:
			continue
		}
		r.Parts = append(r.Parts, args)
	}
	return r, nil
}

// swap gives a flag another value.
func swap(args []string, flag, value string) []string {
	for i, a := range args {
		if strings.HasPrefix(a, flag) {
			args[i] = flag + value
		}
	}
	return args
}

// Ready reports whether the copy answers; fs.ErrNotExist would say not yet, as would false.
func (r *Replica) Ready(ctx context.Context) bool {
	c, err := newClient(r.URL, r.lab.client.ca, r.lab.client.token)
	if err != nil {
		return false
	}
	defer c.http.CloseIdleConnections()
	_, err = c.raw(ctx, "/readyz")
	return err == nil
}

// raw gets what is no JSON.
func (c *client) raw(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("User-Agent", UserAgent)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d", path, res.StatusCode)
	}
	return raw, err
}

// EtcdMetrics is what the etcd of the lab tells of itself, in the text format of Prometheus.
func (l *Lab) EtcdMetrics(ctx context.Context) ([]byte, error) {
	c, err := etcdClient(l.dir, l.record.EtcdURL)
	if err != nil {
		return nil, err
	}
	return c.raw(ctx, "/metrics")
}

// LeadTo gives the operator of a namespace a second context in the same kubeconfig, which leads to the copy, and
// returns its name.
func (r *Replica) LeadTo(ctx context.Context, ns Namespace) (string, error) {
	token, err := r.lab.token(ctx, ns.Name, "operator")
	if err != nil {
		return "", err
	}
	file := kubeconfig{server: r.lab.record.URL, ca: r.lab.client.ca, token: token, name: ContextName + "-" + ns.Name, namespace: ns.Name,
		copyURL: r.URL}
	return file.copyName(), replace(ns.OperatorKubeconfig, file.bytes())
}

// copyStore copies what etcd keeps: its database by the snapshot that it gives, and then its log, which is never behind.
func (l *Lab) copyStore(ctx context.Context, dir string) error {
	from, to := filepath.Join(l.dir, "etcd", "member"), filepath.Join(dir, "etcd", "member")
	for range 5 {
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		for _, sub := range []string{"snap", "wal"} {
			if err := os.MkdirAll(filepath.Join(to, sub), 0o700); err != nil {
				return err
			}
		}
		before, err := filepath.Glob(filepath.Join(from, "snap", "*.snap"))
		if err != nil {
			return err
		}
		if err := l.snapshot(ctx, filepath.Join(to, "snap", "db")); err != nil {
			return err
		}
		if err := copyAll(filepath.Join(from, "snap"), filepath.Join(to, "snap"), ".snap"); err != nil {
			return err
		}
		if err := copyAll(filepath.Join(from, "wal"), filepath.Join(to, "wal"), ".wal"); err != nil {
			return err
		}
		after, err := filepath.Glob(filepath.Join(from, "snap", "*.snap"))
		if err != nil {
			return err
		}
		if slices.Equal(before, after) { // else the log was cut in between, and may lack what the database lacks
			return nil
		}
	}
	return errors.New("etcd cuts its log again and again while it is copied")
}

// snapshot writes the database of etcd as it is at one moment. Behind it stands its sum, which a member does not keep.
func (l *Lab) snapshot(ctx context.Context, name string) error {
	c, err := etcdClient(l.dir, l.record.EtcdURL)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/v3/maintenance/snapshot", bytes.NewReader([]byte("{}")))
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("a snapshot of etcd: status %d", res.StatusCode)
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	size := int64(0)
	dec := json.NewDecoder(res.Body)
	for {
		var part struct {
			Result struct{ Blob []byte }
			Error  *struct{ Message string }
		}
		err := dec.Decode(&part)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && part.Error != nil {
			err = errors.New(part.Error.Message)
		}
		if err == nil {
			_, err = out.Write(part.Result.Blob)
			size += int64(len(part.Result.Blob))
		}
		if err != nil {
			return errors.Join(fmt.Errorf("a snapshot of etcd: %w", err), out.Close())
		}
	}
	const page, sum = 512, 32
	if size%page != sum {
		return errors.Join(fmt.Errorf("a snapshot of etcd has %d bytes, which is no database and its sum", size), out.Close())
	}
	return errors.Join(out.Truncate(size-sum), out.Close())
}

// copyAll copies the files of one ending. Blocks of zeros are left out: a log has 64 MB from its beginning.
func copyAll(from, to, ending string) error {
	names, err := filepath.Glob(filepath.Join(from, "*"+ending))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copySparse(name, filepath.Join(to, filepath.Base(name))); err != nil {
			return err
		}
	}
	return nil
}

func copySparse(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	block, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	size := int64(0)
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 && !bytes.Equal(block[:n], zeros[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return out.Truncate(size)
		case err != nil:
			return err
		}
	}
}
