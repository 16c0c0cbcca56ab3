package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// writing is what a loop does each time: the same fields of the same objects.
type writing struct {
	Path  string          `json:"path"` // of the object at the API server
	Patch json.RawMessage `json:"patch"`
	// From is an object whose values the patch takes over: a text such as
	// @/data/host in it stands for what is there.
	From string `json:"from"`
}

// filled is the patch with the values of the source in it.
func (w writing) filled(ctx context.Context, c *client) (any, error) {
	if w.From == "" {
		return w.Patch, nil
	}
	var source object
	if err := c.do(ctx, http.MethodGet, w.From, "", nil, &source); err != nil {
		return nil, err
	}
	var patch any
	if err := json.Unmarshal(w.Patch, &patch); err != nil {
		return nil, err
	}
	return fill(patch, source), nil
}

func fill(v any, source object) any {
	switch in := v.(type) {
	case string:
		if strings.HasPrefix(in, "@/") {
			return at(source, in[1:])
		}
	case map[string]any:
		for k, item := range in {
			in[k] = fill(item, source)
		}
	case []any:
		for i, item := range in {
			in[i] = fill(item, source)
		}
	}
	return v
}

// loop writes until ctx ends. What it could not write it tries again at the next
// tick: it has no reason to be polite.
func loop(ctx context.Context, dir string) error {
	var plan struct {
		Kubeconfig, Every, Agent, Manager string
		Writes                            []writing
	}
	if err := readPlan(dir, "loop.json", &plan); err != nil {
		return err
	}
	every, err := time.ParseDuration(plan.Every)
	if err != nil || every <= 0 {
		return fmt.Errorf("every %q is no duration above zero", plan.Every)
	}
	c, err := newClient(plan.Kubeconfig, plan.Agent)
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid()))); err != nil {
		return err
	}
	beat := filepath.Join(dir, "wrote")
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, w := range plan.Writes {
			patch, err := w.filled(ctx, c)
			if err == nil {
				err = c.do(ctx, http.MethodPatch, w.Path+"?fieldManager="+url.QueryEscape(plan.Manager), mergePatch, patch, nil)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			if err := replace(beat, []byte(time.Now().UTC().Format(time.RFC3339Nano))); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
