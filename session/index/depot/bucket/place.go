package bucket

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"handrail/session/index/depot"
)

// Scheme begins the name of a bucket.
const Scheme = "s3://"

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	keyPart    = regexp.MustCompile(`^[A-Za-z0-9!_.*'()=+@:, -]+$`)
)

// split reads s3://bucket/prefix. What it refuses it does not repeat where that
// may hold a password.
func split(place string) (name, prefix string, err error) {
	rest, ok := strings.CutPrefix(place, Scheme)
	if !ok {
		return "", "", fmt.Errorf("%w: it does not begin with %s", depot.ErrPlace, Scheme)
	}
	name, prefix, _ = strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	if strings.Contains(name, "@") {
		return "", "", fmt.Errorf("%w: credentials do not belong in the name of a place; they come from the environment or the profile of the AWS tools", depot.ErrPlace)
	}
	if !bucketName.MatchString(name) {
		return "", "", fmt.Errorf("%w: %q is not a bucket name (3 to 63 of a-z, 0-9, dot and hyphen)", depot.ErrPlace, name)
	}
	if prefix == "" {
		return name, "", nil
	}
	for _, part := range strings.Split(prefix, "/") {
		if !keyPart.MatchString(part) || part == "." || part == ".." {
			return "", "", fmt.Errorf("%w: %q cannot be part of an object name", depot.ErrPlace, part)
		}
	}
	if len(prefix) > 512 {
		return "", "", fmt.Errorf("%w: a prefix of over 512 bytes", depot.ErrPlace)
	}
	return name, prefix, nil
}

// Bundle splits s3://bucket/prefix/ID.hrb.tar.gz into the place and the id; the
// ending may be left out.
func Bundle(place string) (where, id string, err error) {
	name, prefix, err := split(place)
	if err != nil {
		return "", "", err
	}
	dir, base := path.Split(prefix)
	base = strings.TrimSuffix(strings.TrimSuffix(base, depot.Suffix), ".hrb")
	if _, ok := depot.IDOf(base + depot.Suffix); !ok {
		return "", "", fmt.Errorf("%w: %q names no bundle in the bucket", depot.ErrPlace, place)
	}
	return strings.TrimSuffix(Scheme+name+"/"+dir, "/"), base, nil
}
