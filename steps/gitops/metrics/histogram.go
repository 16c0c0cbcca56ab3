package metrics

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// mostBounds is how many buckets one histogram may have; the widest of the controllers has a dozen.
const mostBounds = 200

// histogram is how many were at most as long as each bound, of all its series together.
type histogram map[float64]float64

// add takes a bucket of one series.
func (h histogram) add(le string, n float64) error {
	bound, err := strconv.ParseFloat(le, 64)
	if err != nil || math.IsNaN(bound) {
		return fmt.Errorf("%q bounds no bucket", le)
	}
	if _, known := h[bound]; !known && len(h) == mostBounds {
		return fmt.Errorf("it has more than %d buckets", mostBounds)
	}
	h[bound] += n
	return nil
}

var errNone = errors.New("nothing was counted since it started")

// count is how many there are in all.
func (h histogram) count() (float64, error) {
	n, ok := h[math.Inf(1)]
	if !ok {
		return 0, errors.New("its last bucket is missing")
	}
	return n, nil
}

// quantile estimates as histogram_quantile does: within a bucket they are spread evenly. Beyond the last bound nothing is
// known, and more is true: it is at least that.
func (h histogram) quantile(q float64) (v float64, more bool, err error) {
	total, err := h.count()
	if err != nil {
		return 0, false, err
	}
	bounds := slices.Sorted(maps.Keys(h))
	for i := 1; i < len(bounds); i++ {
		if h[bounds[i]] < h[bounds[i-1]] {
			return 0, false, errors.New("its buckets do not add up")
		}
	}
	switch {
	case total == 0:
		return 0, false, errNone
	case len(bounds) < 2:
		return 0, false, errors.New("it has one bucket alone")
	}
	rank := q * total
	i := slices.IndexFunc(bounds, func(b float64) bool { return h[b] >= rank })
	if i == len(bounds)-1 {
		return bounds[i-1], true, nil
	}
	if i == 0 && bounds[0] <= 0 {
		return bounds[0], false, nil
	}
	var begin, before float64
	if i > 0 {
		begin, before = bounds[i-1], h[bounds[i-1]]
	}
	return begin + (bounds[i]-begin)*(rank-before)/(h[bounds[i]]-before), false, nil
}
