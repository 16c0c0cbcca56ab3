package kube

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// sweepPage is how many objects one answer holds; a page is dropped after use.
const sweepPage = 500

// sweep lists what is at path in pages and shows each object to see. An error
// means that not all was seen.
func (c *client) sweep(ctx context.Context, path, accept string, query url.Values, see func(object)) error {
	query = cloned(query)
	query.Set("limit", strconv.Itoa(sweepPage))
	for {
		raw, err := c.read(ctx, path, accept, query)
		if err != nil {
			return err
		}
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []map[string]any `json:"items"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return fmt.Errorf("%s: the answer of %s cannot be read: %w", path, c.Server, err)
		}
		for _, item := range page.Items {
			see(object{Unstructured: &unstructured.Unstructured{Object: item}})
		}
		if page.Metadata.Continue == "" {
			return nil
		}
		if page.Metadata.Continue == query.Get("continue") {
			return fmt.Errorf("%s: %s gives the same page twice", path, c.Server)
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

func cloned(v url.Values) url.Values {
	out := url.Values{}
	for key, values := range v {
		out[key] = append([]string{}, values...)
	}
	return out
}
