package backend

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5" // it is the digest that the backend keeps
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/module"
)

// consulPart is how much one key takes: a transaction brings it in base64, and consul refuses
// one of over half a megabyte.
const consulPart = 350 << 10

// consulOp is one step of a transaction of consul.
type consulOp struct {
	Verb      string
	Key       string
	Value     []byte `json:",omitempty"`
	Index     uint64 `json:",omitempty"`
	Namespace string `json:",omitempty"`
	Partition string `json:",omitempty"`
}

// Repair implements Repairer: one transaction, which consul takes only if neither the key of
// the state nor that of the lock was written since. What one key cannot hold is laid into
// parts first, which no run reads before the key names them.
func (c *consulStore) Repair(ctx context.Context, _ module.Workdir, now Found, content []byte, _ steps.Sink) (Repair, error) {
	if !now.Broken {
		return Repair{}, errWhole
	}
	index, err := c.unchanged(ctx, now)
	if err != nil {
		return Repair{}, err
	}
	lock, err := c.lockKey(ctx)
	if err != nil {
		return Repair{}, err
	}
	value, parts, err := c.laidOut(content)
	if err != nil {
		return Repair{}, err
	}
	ns, partition := c.query.Get("ns"), c.query.Get("partition")
	free := consulOp{Verb: "check-not-exists", Key: c.lockPath() + "/.lock", Namespace: ns, Partition: partition}
	if lock.ModifyIndex != 0 {
		free.Verb, free.Index = "check-index", lock.ModifyIndex
	}
	set := consulOp{Verb: "cas", Key: c.path, Value: value, Index: index, Namespace: ns, Partition: partition}
	body, err := json.Marshal([]map[string]consulOp{{"KV": free}, {"KV": set}})
	if err != nil {
		return Repair{}, err
	}
	m := Repair{
		Request: fmt.Sprintf("PUT %s in one transaction: %s to %d bytes (SHA-256 of the state %s), if its index is still %d and the lock was not taken since", c.base.Host, c.path, len(value), sumOfBytes(content), index),
		Command: fmt.Sprintf("consul kv put -cas -modify-index=%d %s @FILE", index, steps.Quote(c.path)),
		Do:      func(ctx context.Context) (string, error) { return c.transact(ctx, parts, body) },
	}
	if len(parts) > 0 {
		m.Request = fmt.Sprintf("PUT %d parts of the state below %s, which nothing names yet; then ", len(parts), c.path) + m.Request
	}
	return m, nil
}

// unchanged returns the index of the key that holds what was found.
func (c *consulStore) unchanged(ctx context.Context, now Found) (uint64, error) {
	r, err := c.State(ctx)
	switch {
	case err != nil:
		return 0, err
	case !r.Exists:
		return 0, errors.New("the key is gone")
	case r.Body == nil:
		err = still(bytes.NewReader(r.Stored), now)
	default:
		defer r.Body.Close()
		err = still(r.Body, now)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.Where, err)
	}
	return strconv.ParseUint(r.Version, 10, 64)
}

// laidOut is a state as the backend lays it into keys: the value of its key, and the parts that
// this names, by their keys.
func (c *consulStore) laidOut(content []byte) (value []byte, parts map[string][]byte, err error) {
	value = content
	if c.packs {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		_, err := zw.Write(content)
		if err := errors.Join(err, zw.Close()); err != nil {
			return nil, nil, err
		}
		value = b.Bytes()
	}
	if len(value) <= consulPart {
		return value, nil, nil
	}
	list := consulChunks{Hash: fmt.Sprintf("%x", md5.Sum(content))}
	parts = map[string][]byte{}
	for part := range slices.Chunk(value, consulPart) {
		key := fmt.Sprintf("%s/tfstate.%s/%d", strings.TrimRight(c.path, "/"), list.Hash, len(list.Chunks))
		list.Chunks, parts[key] = append(list.Chunks, key), part
	}
	value, err = json.Marshal(list)
	return value, parts, err
}

// transact writes the parts, and then the key in a transaction.
func (c *consulStore) transact(ctx context.Context, parts map[string][]byte, body []byte) (string, error) {
	query := url.Values{}
	for _, name := range []string{"dc", "ns", "partition"} {
		if v := c.query.Get(name); v != "" {
			query.Set(name, v)
		}
	}
	put := func(path string, body []byte) error {
		u := c.base
		u.Path, u.RawQuery = path, query.Encode()
		code, said, err := c.open.send(ctx, http.MethodPut, u.String(), c.header, body)
		switch {
		case err != nil:
			return err
		case code == http.StatusConflict:
			return fmt.Errorf("consul took none of it, the state or its lock was written meanwhile: %q", steps.Clip(string(said), 300))
		case code == http.StatusForbidden:
			return denied("forbidden: %s refuses the write (%q); ask for the policy key_prefix write on %s", c.fetch.server(), steps.Clip(string(said), 200), c.path)
		case code != http.StatusOK || string(bytes.TrimSpace(said)) == "false":
			return fmt.Errorf("%s answered %d: %q", c.fetch.server(), code, steps.Clip(string(said), 300))
		}
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		if err := put("/v1/kv/"+key, parts[key]); err != nil {
			return "", fmt.Errorf("the part %s: %w; the key of the state was not written", key, err)
		}
	}
	if err := put("/v1/txn", body); err != nil {
		return "", fmt.Errorf("%s: %w", c.where(), err)
	}
	return "The key " + c.path + " holds a state again.", nil
}
