package rabbitmq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
)

// The bounds of one list. A broker with more is read by hand.
const (
	pageSize    = 500 // the most that RabbitMQ gives
	mostItems   = 200_000
	largestList = 64 << 20
	tries       = 3
)

// errMoved says that a list changed between two of its pages.
var errMoved = errors.New("the list changes while it is read; read again when it is quiet")

// readList reads a whole list, or returns an error: a part of it is never taken
// for all. What RabbitMQ does not page comes as one array.
func readList[T any](ctx context.Context, c *client, path string, query url.Values) ([]T, error) {
	var err error
	for range tries {
		var all []T
		if all, err = readPages[T](ctx, c, path, query); !errors.Is(err, errMoved) {
			return all, err
		}
	}
	return nil, fmt.Errorf("%s%s: %w", c.base, path, err)
}

func readPages[T any](ctx context.Context, c *client, path string, query url.Values) ([]T, error) {
	var all []T
	left := int64(largestList)
	for n, first := 1, (page[T]{}); ; n++ {
		query.Set("page", strconv.Itoa(n))
		query.Set("page_size", strconv.Itoa(pageSize))
		resp, err := c.get(ctx, path, query)
		if err != nil {
			if n > 1 && errors.Is(err, errAbsent) {
				return nil, errMoved
			}
			return nil, err
		}
		body := &io.LimitedReader{R: resp.Body, N: left + 1}
		p, err := parsePage[T](body)
		_ = resp.Body.Close()
		switch left = body.N - 1; {
		case left < 0:
			return nil, fmt.Errorf("%s%s is over %d MB, which is more than handrail reads", c.base, path, largestList>>20)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, fmt.Errorf("%s%s was not answered with a whole list: %w", c.base, path, err)
		case n == 1:
			first = p
		case p.whole || p.Total != first.Total || p.Pages != first.Pages:
			return nil, errMoved
		}
		if !p.whole && p.Page != n {
			return nil, fmt.Errorf("%s%s answered page %d with page %d", c.base, path, n, p.Page)
		}
		if all = append(all, p.Items...); len(all) > mostItems {
			return nil, fmt.Errorf("%s%s has more than %d entries, which is more than handrail reads", c.base, path, mostItems)
		}
		switch {
		case p.whole:
			return all, nil
		case len(p.Items) == 0 && n < p.Pages:
			return nil, errMoved
		case n >= p.Pages:
			if len(all) != p.Total {
				return nil, errMoved
			}
			return all, nil
		}
	}
}

// page is one answer.
type page[T any] struct {
	Items []T
	Page  int
	Pages int
	Total int
	whole bool // all there is, as one array
}

// parsePage reads one page, or a whole list where a broker gives no pages.
func parsePage[T any](body io.Reader) (page[T], error) {
	var raw json.RawMessage
	dec := json.NewDecoder(body)
	if err := dec.Decode(&raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return page[T]{}, errors.New("it was cut off")
		}
		return page[T]{}, fmt.Errorf("it is no JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return page[T]{}, errors.New("something follows it")
	}
	if bytes.HasPrefix(raw, []byte("[")) {
		p := page[T]{whole: true}
		if err := json.Unmarshal(raw, &p.Items); err != nil {
			return page[T]{}, fmt.Errorf("its entries are none of RabbitMQ: %w", err)
		}
		return p, nil
	}
	var said struct {
		Items []T  `json:"items"`
		Page  *int `json:"page"`
		Pages *int `json:"page_count"`
		Total *int `json:"filtered_count"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return page[T]{}, fmt.Errorf("its entries are none of RabbitMQ: %w", err)
	}
	if said.Page == nil || said.Pages == nil || said.Total == nil || said.Items == nil || *said.Pages < 0 || *said.Total < 0 {
		return page[T]{}, errors.New("it is not a page of a list")
	}
	return page[T]{Items: said.Items, Page: *said.Page, Pages: *said.Pages, Total: *said.Total}, nil
}
