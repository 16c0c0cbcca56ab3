package evidence

import "golang.org/x/mod/sumdb/tlog"

// merkle keeps the roots of the complete subtrees on the right edge of an RFC 6962 tree, largest first.
type merkle struct {
	edge  []tlog.Hash
	sizes []int64
}

func (m *merkle) add(leaf tlog.Hash) {
	m.edge, m.sizes = append(m.edge, leaf), append(m.sizes, 1)
	for n := len(m.edge); n > 1 && m.sizes[n-1] == m.sizes[n-2]; n-- {
		m.edge[n-2] = tlog.NodeHash(m.edge[n-2], m.edge[n-1])
		m.sizes[n-2] *= 2
		m.edge, m.sizes = m.edge[:n-1], m.sizes[:n-1]
	}
}

func (m *merkle) root() tlog.Hash {
	if len(m.edge) == 0 {
		return tlog.Hash{}
	}
	h := m.edge[len(m.edge)-1]
	for i := len(m.edge) - 2; i >= 0; i-- {
		h = tlog.NodeHash(m.edge[i], h)
	}
	return h
}
