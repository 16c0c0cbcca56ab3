package tui

// pager shows long text. It wraps once per content or width, not per frame.
type pager struct {
	body text
	rows []text
	w    int
	off  int
}

func (p *pager) set(body text, w int) { p.body, p.w, p.off = body, 0, 0; p.wrap(w) }

func (p *pager) wrap(w int) {
	if w == p.w || w <= 0 {
		return
	}
	p.w, p.rows = w, wrap(p.body, w)
}

func (p *pager) scroll(by, h int) { p.off = max(0, min(p.off+by, len(p.rows)-h)) }

func (p *pager) draw(i ink, h int) []drawn {
	var out []drawn
	for n := p.off; n < min(len(p.rows), p.off+h); n++ {
		out = append(out, i.on(p.rows[n]))
	}
	return out
}
