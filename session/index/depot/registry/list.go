package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"handrail/session/index/depot"
)

// errEnough ends a listing that would go on.
var errEnough = errors.New("enough")

// List names the tags, and looks at each, since a tag alone does not say what it
// is.
func (r *Repository) List(ctx context.Context) (depot.Listing, error) {
	var out depot.Listing
	var tags []string
	err := r.tags(ctx, &tags)
	switch {
	case errors.Is(err, errEnough):
		out.More = true
	case isAnswer(err, http.StatusNotFound):
		return out, fmt.Errorf("%w: the registry has no repository %q", depot.ErrNone, r.where)
	case err != nil:
		return out, fmt.Errorf("listing %q: %w", r.where, explained(err))
	}
	for _, tag := range tags {
		s, err := r.Find(ctx, tag)
		switch {
		case errors.Is(err, depot.ErrStranger):
			out.Strangers = append(out.Strangers, tag)
		case errors.Is(err, depot.ErrNone): // taken away meanwhile
		case err != nil:
			return out, err
		default:
			out.Bundles = append(out.Bundles, s)
		}
	}
	return out, nil
}

func (r *Repository) tags(ctx context.Context, into *[]string) error {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	return r.repo.Tags(ctx, "", func(page []string) error {
		for _, tag := range page {
			if len(*into) >= depot.MaxListed {
				return errEnough
			}
			*into = append(*into, tag)
		}
		return nil
	})
}

// isAnswer tells whether the registry answered with this status.
func isAnswer(err error, status int) bool {
	var answer *errcode.ErrorResponse
	return errors.As(err, &answer) && answer.StatusCode == status
}
