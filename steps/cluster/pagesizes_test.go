package cluster

import "testing"

func TestPageSizes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ rows, size, want int }{
		{500, 25_000, largestPage}, {500, 500 << 10, 2046}, {500, 100 << 20, smallestPage}, {0, 100, largestPage},
	} {
		p := NewPages(&Client{}, "/x", AsTable, nil)
		if done, err := p.took(ListMeta{Continue: "c"}, tc.rows, tc.size); done || err != nil || p.limit != tc.want {
			t.Errorf("after %d rows of %d bytes: %v %v, limit %d, want %d", tc.rows, tc.size, done, err, p.limit, tc.want)
		}
	}
}
